package files

import (
	"context"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// Writer writes each batch as one file. It implements sinks.Stager and is safe
// for concurrent use; there is nothing to close. It belongs to one transform:
// Recover takes what another one staged with the same Dir and Owner for left over.
type Writer[T any] struct {
	format Format[T]
	name   func(NameInfo) string
	suffix string
	folder *folder
}

// NewWriter checks the config and lists all that is wrong with it. It does not
// touch the disk.
func NewWriter[T any](c Config[T]) (*Writer[T], error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Writer[T]{
		format: c.Format, name: c.Name, suffix: c.Suffix,
		folder: newFolder(c.Dir, c.Owner, c.NoSync),
	}, nil
}

// Stage writes the batch to a temporary file and makes it durable. Records whose
// encoding fails are in Staged.Failed and not in the file; a batch with no record
// left stages no file, a batch that had none stages an empty one. A destination
// or name that cannot be used is a Permanent error for the whole batch.
func (w *Writer[T]) Stage(ctx context.Context, b sinks.Batch[T]) (sinks.Staged, error) {
	if err := w.checkNames(b); err != nil {
		return sinks.Staged{}, err
	}
	d, err := w.folder.enter()
	if err != nil {
		return sinks.Staged{}, err
	}
	defer d.close()
	return w.stage(ctx, d, b)
}

// checkNames refuses a batch that could not be published, while it can still
// fail: after the commit it is too late.
func (w *Writer[T]) checkNames(b sinks.Batch[T]) error {
	if b.Destination != "" {
		if err := checkPath(b.Destination); err != nil {
			return fault.Errorf(fault.Permanent, "files: destination %q cannot be a file name: %w", b.Destination, err)
		}
	}
	_, err := w.fileName(NameInfo{Destination: b.Destination, Window: b.Window, Effect: widest})
	return err
}

// fileName is the final name below Dir.
func (w *Writer[T]) fileName(n NameInfo) (string, error) {
	name := w.name(n) + w.suffix
	if err := checkPath(name); err != nil {
		return "", fault.Errorf(fault.Permanent, "files: destination %q: file name %q: %w", n.Destination, name, err)
	}
	return name, nil
}

// Publish makes the staged file visible under its final name and returns it. It
// may be repeated, also at the same time and in later runs.
func (w *Writer[T]) Publish(ctx context.Context, id sinks.EffectID, tok sinks.Token) (sinks.Outcome[File], error) {
	t, err := decodeToken(tok)
	if err != nil {
		return sinks.Outcome[File]{}, fault.Errorf(fault.Permanent, "files: publish %v: %w", id, err)
	}
	if t.temp == "" {
		return sinks.Outcome[File]{}, nil
	}
	name, err := w.fileName(NameInfo{Destination: t.destination, Window: t.window, Effect: id})
	if err != nil {
		return sinks.Outcome[File]{}, err
	}
	if err := ctx.Err(); err != nil {
		return sinks.Outcome[File]{}, err
	}
	if err := w.folder.publish(t, name); err != nil {
		return sinks.Outcome[File]{}, err
	}
	return sinks.Outcome[File]{Results: []File{t.file(name)}}, nil
}

// Discard removes the temporary file of a token that will not be published.
func (w *Writer[T]) Discard(_ context.Context, tok sinks.Token) error {
	t, err := decodeToken(tok)
	if err != nil {
		return fault.Errorf(fault.Permanent, "files: discard: %w", err)
	}
	if t.temp == "" {
		return nil
	}
	return w.folder.discard(t)
}

// Recover removes the temporary files of this writer's Owner that are not among
// the pending. It fails where Dir cannot be read, so that a missing or unmounted
// folder is known before anything is staged.
func (w *Writer[T]) Recover(_ context.Context, pending []sinks.Token) error {
	keep := make(map[string]bool, len(pending))
	for _, tok := range pending {
		t, err := decodeToken(tok)
		if err != nil {
			return fault.Errorf(fault.Permanent, "files: recover: %w", err)
		}
		if t.temp != "" {
			keep[t.temp] = true
		}
	}
	return w.folder.recover(keep)
}
