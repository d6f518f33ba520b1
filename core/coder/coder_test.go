package coder_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/fault"
)

// mustFor is For for types that have a coder.
func mustFor[T any](t testing.TB) coder.Coder[T] {
	t.Helper()
	c, err := coder.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// wantMalformed checks the error of a Read: permanent, and findable.
func wantMalformed(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, coder.ErrMalformed) || fault.Of(err) != fault.Permanent {
		t.Errorf("error %v of class %v, want a permanent ErrMalformed", err, fault.Of(err))
	}
}

// failing is a coder none of whose values has an encoding. Its Append breaks the
// contract as user code does: it returns nil and the error.
var failing = coder.Coder[string]{
	Name:   "failing",
	Append: func([]byte, string) ([]byte, error) { return nil, fault.Errorf(fault.Permanent, "no") },
	Read:   func([]byte) (string, error) { return "", errors.New("no") },
}

func TestValidateListsWhatIsMissing(t *testing.T) {
	err := coder.Coder[int]{}.Validate()
	for _, field := range []string{"Name", "Append", "Read"} {
		if err == nil || !strings.Contains(err.Error(), field+" is not set") {
			t.Errorf("error %v does not mention %s", err, field)
		}
	}
}

func TestSizedComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(126, 130), rapid.IntRange(16382, 16386)).Draw(t, "length")
		v, before, after := strings.Repeat("v", length), []byte("before"), "after"

		b := coder.AppendSized(before, []byte(v))
		byCoder, err := coder.String().AppendSized(before, v)
		if err != nil || !bytes.Equal(b, byCoder) {
			t.Fatalf("%d bytes: the coder writes %x, %v, want %x", length, byCoder, err, b)
		}
		b = append(b[len(before):], after...)
		sized, rest, err := coder.ReadSized(b)
		if err != nil || string(sized) != v || string(rest) != after {
			t.Fatalf("read %q, rest %q, %v", sized, rest, err)
		}
		got, rest, err := coder.String().ReadSized(b)
		if err != nil || got != v || string(rest) != after {
			t.Fatalf("the coder reads %q, rest %q, %v", got, rest, err)
		}
	})
}

// TestSizedPartIsClosed: appending to what ReadSized returned does not write into
// the rest.
func TestSizedPartIsClosed(t *testing.T) {
	b := append(coder.AppendSized(nil, []byte("ab")), "rest"...)
	sized, rest, _ := coder.ReadSized(b)
	if _ = append(sized, 'X'); string(rest) != "rest" {
		t.Errorf("the rest became %q", rest)
	}
}

func TestReadSizedRefusesWhatIsCutOff(t *testing.T) {
	whole := coder.AppendSized(nil, bytes.Repeat([]byte("v"), 200))
	for n := range len(whole) {
		_, _, err := coder.ReadSized(whole[:n])
		wantMalformed(t, err)
		_, _, err = coder.String().ReadSized(whole[:n])
		wantMalformed(t, err)
	}
	_, _, err := coder.ReadSized(bytes.Repeat([]byte{0xff}, 12)) // no varint ends there
	wantMalformed(t, err)
}

// TestFailedAppendLeavesDst: a batch goes on after an element that has no encoding.
func TestFailedAppendLeavesDst(t *testing.T) {
	dst := make([]byte, 3, 100)
	check := func(name string, got []byte, err error) {
		t.Helper()
		if fault.Of(err) != fault.Permanent || len(got) != len(dst) || &got[0] != &dst[0] {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
	got, err := failing.AppendSized(dst, "")
	check("sized", got, err)
	got, err = coder.KV(failing, coder.String()).Append(dst, pair[string, string]{})
	check("key", got, err)
	got, err = coder.KV(coder.String(), failing).Append(dst, pair[string, string]{})
	check("value", got, err)
	got, err = coder.Element(failing).Append(dst, anyElement(""))
	check("element", got, err)
	got, err = coder.JSON[any]().Append(dst, make(chan int))
	check("json", got, err)
	got, err = mustFor[pair[string, any]](t).Append(dst, pair[string, any]{Value: make(chan int)})
	check("inferred value", got, err)
	got, err = mustFor[pair[any, string]](t).Append(dst, pair[any, string]{Key: make(chan int)})
	check("inferred key", got, err)
}
