package coder_test

import (
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/fault"
)

// TestAddingAFieldIsCompatible: what the old type wrote is read under the same name.
func TestAddingAFieldIsCompatible(t *testing.T) {
	type v1 = struct{ ID string }
	type v2 = struct {
		ID   string
		Note string
	}
	older, newer := mustFor[v1](t), mustFor[v2](t)
	b, _ := older.Append(nil, v1{ID: "a"})
	got, err := newer.Read(b)
	if err != nil || got != (v2{ID: "a"}) || older.Name != newer.Name {
		t.Errorf("%s read by %s: %+v, %v", older.Name, newer.Name, got, err)
	}
}

// TestJSONRefusesTextItWouldChange: two keys that differ in a byte that is not UTF-8
// would become one.
func TestJSONRefusesTextItWouldChange(t *testing.T) {
	c := mustFor[line](t)
	for text, ok := range map[string]bool{
		"caf\xe9":         false,
		"\xff":            false,
		`\` + "\xff":      false,
		"\ufffd":          true, // the character itself
		`\ufffd`:          true, // six characters
		`\\ufffd`:         true,
		`\ufffd` + "\xff": false,
		"":                true,
		"<&>\u2028\x00":   true,
	} {
		b, err := c.Append(nil, line{Item: text})
		if (err == nil) != ok || err != nil && fault.Of(err) != fault.Permanent {
			t.Errorf("%q: error %v", text, err)
			continue
		}
		if got, err := c.Read(b); ok && (err != nil || got.Item != text) {
			t.Errorf("%q reads as %q, %v", text, got.Item, err)
		}
	}
}

func TestJSONWithoutAnEncoding(t *testing.T) {
	if _, err := mustFor[weighted](t).Append(nil, weighted{Share: math.NaN()}); fault.Of(err) != fault.Permanent {
		t.Errorf("NaN: error %v", err)
	}
}

func TestJSONReadRefuses(t *testing.T) {
	c := mustFor[line](t)
	for _, b := range []string{"", "{", `{"Item":1}`, `{"Count":1.5}`, `{} {}`, "[]"} {
		_, err := c.Read([]byte(b))
		wantMalformed(t, err)
	}
}

// TestJSONAcceptsTheLoss: asked for by name, it codes what For refuses.
func TestJSONAcceptsTheLoss(t *testing.T) {
	c := coder.JSON[stamped]()
	if _, err := c.Append(nil, stamped{Name: "lost"}); err != nil || c.Name != "json:stamped" || !c.Deterministic {
		t.Errorf("%s, deterministic %v, error %v", c.Name, c.Deterministic, err)
	}
	if coder.JSON[map[string]int]().Deterministic {
		t.Error("a map is deterministic")
	}
}

func TestProtoComesBack(t *testing.T) {
	c := mustFor[*structpb.Struct](t)
	want, _ := structpb.NewStruct(map[string]any{"a": 1, "b": []any{"x", true}, "c": nil})
	first, err := c.Append([]byte("before"), want)
	if err != nil || !strings.HasPrefix(string(first), "before") {
		t.Fatalf("wrote %q, %v", first, err)
	}
	encoded := append([]byte(nil), first[len("before"):]...)
	got, err := c.Read(encoded)
	clear(encoded)
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
	for range 20 { // a retry writes the same bytes, maps or not
		if again, _ := c.Append([]byte("before"), want); string(again) != string(first) {
			t.Fatal("two encodings of one message differ")
		}
	}
}

func TestProtoRefuses(t *testing.T) {
	c := mustFor[*wrapperspb.StringValue](t)
	for name, m := range map[string]*wrapperspb.StringValue{"nil": nil, "not UTF-8": wrapperspb.String("\xff")} {
		if _, err := c.Append(nil, m); fault.Of(err) != fault.Permanent {
			t.Errorf("%s: error %v", name, err)
		}
	}
	_, err := c.Read([]byte{0xff})
	wantMalformed(t, err)
}
