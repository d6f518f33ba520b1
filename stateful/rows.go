package stateful

import (
	"encoding/binary"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
)

// rows puts changes into the delta of an epoch. A row's key is
//
//	window    16 bytes
//	key       sized
//	name      sized, the cell's; empty for the row that says the key was seen
//	sub       the rest: a timer's tag
type rows struct {
	delta      *store.Delta
	key, value []byte
}

// begin makes the key of a row of e.
func (r *rows) begin(e *entry, prefix []byte, sub string) {
	r.key = appendEntryKey(r.key[:0], e.pane.window, e.encoded)
	r.key = append(append(r.key, prefix...), sub...)
}

func appendEntryKey(dst []byte, w window.Window, encoded string) []byte {
	dst = window.AppendWindow(dst, w)
	dst = binary.AppendUvarint(dst, uint64(len(encoded)))
	return append(dst, encoded...)
}

// put replaces the row begun, merge adds to it; remove deletes it where it exists.
func (r *rows) put(t *track, value []byte) {
	r.delta.Put(t.entry.group, r.key, value)
	t.stored = true
	t.entry.pane.groups.add(t.entry.group)
}

func (r *rows) merge(t *track, operand []byte) { r.delta.Merge(t.entry.group, r.key, operand) }

func (r *rows) remove(t *track) {
	if t.stored {
		r.delta.Delete(t.entry.group, r.key)
		t.stored = false
	}
}

// saveValue puts v, if set, else removes the row.
func saveValue[T any](r *rows, t *track, c coder.Coder[T], v T, set bool) (err error) {
	if !set {
		r.remove(t)
		return nil
	}
	if r.value, err = c.Append(r.value[:0], v); err == nil {
		r.put(t, r.value)
	}
	return err
}

// rowKey is the key of a row, taken apart.
type rowKey struct {
	window  window.Window
	encoded []byte
	name    string
	sub     string
}

func readRowKey(b []byte) (k rowKey, err error) {
	w, rest, err := window.ReadWindow(b)
	if err != nil {
		return k, err
	}
	encoded, rest, err := coder.ReadSized(rest)
	if err != nil {
		return k, err
	}
	name, rest, err := coder.ReadSized(rest)
	return rowKey{window: w, encoded: encoded, name: string(name), sub: string(rest)}, err
}
