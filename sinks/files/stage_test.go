package files

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

func TestEncodeErrorFailsOneRecord(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, Config[float64]{Dir: dir})
	s, err := w.Stage(t.Context(), batchOf("west", 1, math.NaN(), 3))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Failed) != 1 || s.Failed[0].ID.Ordinal != 1 || fault.Of(s.Failed[0].Err) != fault.Permanent {
		t.Fatalf("failed %+v", s.Failed)
	}
	f := mustPublish(t, w, effect, s.Token)
	if got := readBack(t, dir, f); !slices.Equal(got, []string{"1", "3"}) || f.Records != 2 {
		t.Errorf("%q in %+v", got, f)
	}
}

// A format may have appended something before it fails; none of it is kept.
func TestHalfEncodedRecordLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, Config[string]{Dir: dir, Format: func(dst []byte, v string) ([]byte, error) {
		dst = append(dst, v...)
		switch v {
		case "error":
			return dst, errors.New("no")
		case "panic":
			panic("no")
		}
		return append(dst, '\n'), nil
	}})
	s, err := w.Stage(t.Context(), batchOf("", "a", "error", "b", "panic", "c"))
	if err != nil || len(s.Failed) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if !strings.Contains(s.Failed[1].Err.Error(), "stage_test.go") {
		t.Errorf("no stack in %v", s.Failed[1].Err)
	}
	if got := readBack(t, dir, mustPublish(t, w, effect, s.Token)); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}

// G80 (the writer's part): results and failures account for every record.
func TestResultsAccountForEveryRecord(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, Config[string]{Dir: dir, Format: Lines[string](), NoSync: true})
	id := effect
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,9}\n?`), 0, 50).Draw(rt, "lines")
		id.Batch++
		s, err := w.Stage(t.Context(), batchOf("d", lines...))
		if err != nil {
			rt.Fatal(err)
		}
		out, err := w.Publish(t.Context(), id, s.Token)
		if err != nil {
			rt.Fatal(err)
		}
		written := int64(0)
		for _, f := range out.Results {
			written += f.Records
		}
		if written+int64(len(s.Failed)) != int64(len(lines)) {
			rt.Fatalf("%d written, %d failed of %d", written, len(s.Failed), len(lines))
		}
		for _, f := range s.Failed {
			if !strings.Contains(lines[f.ID.Ordinal], "\n") {
				rt.Fatalf("%q failed: %v", lines[f.ID.Ordinal], f.Err)
			}
		}
	})
}

func TestEveryRecordFails(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	s, err := w.Stage(t.Context(), batchOf("", "a\nb"))
	if err != nil || len(s.Failed) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	out, err := w.Publish(t.Context(), effect, s.Token)
	if err != nil || len(out.Results) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := w.Discard(t.Context(), s.Token); err != nil {
		t.Error(err)
	}
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("files %v", got)
	}
}

func TestEmptyBatchIsAnEmptyFile(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	f := mustPublish(t, w, effect, mustStage(t, w, batchOf[string]("")))
	if f.Records != 0 || f.Bytes != 0 || !slices.Equal(filesBelow(t, dir), []string{f.Name}) {
		t.Errorf("%+v, files %v", f, filesBelow(t, dir))
	}
}

// A batch that cannot be read to its end gives its own error and leaves nothing.
func TestBrokenBatch(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("the store is gone")
	b := batchOf("", numbered(20_000)...)
	all := b.All
	b.All = func(yield func(sinks.Record[string], error) bool) {
		for r := range all {
			if !yield(r, nil) {
				return
			}
		}
		yield(sinks.Record[string]{}, broken)
	}
	if _, err := linesWriter(t, dir).Stage(t.Context(), b); err != broken {
		t.Errorf("%v", err)
	}
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestPanicOfTheBatchLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	b := batchOf[string]("")
	b.All = func(func(sinks.Record[string], error) bool) { panic("store") }
	func() {
		defer func() { recover() }()
		linesWriter(t, dir).Stage(t.Context(), b)
		t.Error("no panic")
	}()
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestCancelledStage(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	b := batchOf("", numbered(5000)...)
	all := b.All
	b.All = func(yield func(sinks.Record[string], error) bool) {
		cancel()
		all(yield)
	}
	if _, err := w.Stage(ctx, b); fault.Of(err) != fault.Closed {
		t.Errorf("%v", err)
	}
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	tok := mustStage(t, w, batchOf("", "a"))
	if _, err := w.Publish(ctx, effect, tok); fault.Of(err) != fault.Closed {
		t.Errorf("Publish: %v", err)
	}
}
