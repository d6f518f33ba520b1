package coder_test

import (
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

type pair[K, V any] = element.KV[K, V]

type (
	orderID  string
	payload  []byte
	amount   int64
	level    int8
	flag     bool
	ratio    float64
	nothing  struct{}
	digest   [4]byte
	lines    []line
	category string

	line struct {
		Item  string
		Count int
	}
	order struct {
		ID    orderID
		At    time.Time
		Lines lines
		Next  *order
	}
	weighted struct{ Share float64 }
	open     struct{ Any any }
	tagged   struct{ Tags map[string]string }
	generic  [1]struct{ Of *box[order] }
)

type box[T any] struct{ Content T }

func (c category) MarshalText() ([]byte, error) { return []byte("c-" + c), nil }
func (c *category) UnmarshalText(b []byte) error {
	*c = category(strings.TrimPrefix(string(b), "c-"))
	return nil
}

// inferred is what For says about one type.
type inferred struct {
	name          string
	deterministic bool
	err           error
}

func infer[T any]() inferred {
	c, err := coder.For[T]()
	return inferred{c.Name, c.Deterministic, err}
}

// TestForNames pins the names, which are on disk, and which types may be keys: S-06,
// the deterministic part.
func TestForNames(t *testing.T) { // S2, S-06
	for _, c := range []struct {
		got           inferred
		name          string
		deterministic bool
	}{
		{infer[string](), "string", true},
		{infer[[]byte](), "bytes", true},
		{infer[bool](), "bool", true},
		{infer[int](), "int64", true},
		{infer[int64](), "int64", true},
		{infer[int32](), "int32", true},
		{infer[int16](), "int16", true},
		{infer[int8](), "int8", true},
		{infer[uint](), "uint64", true},
		{infer[uintptr](), "uint64", true},
		{infer[uint64](), "uint64", true},
		{infer[uint32](), "uint32", true},
		{infer[uint16](), "uint16", true},
		{infer[uint8](), "uint8", true},
		{infer[float64](), "float64", false},
		{infer[float32](), "float32", false},
		{infer[time.Time](), "time", true},
		{infer[time.Duration](), "int64", true},
		{infer[event.Time](), "int64", true},
		{infer[event.Timing](), "uint8", true},
		{infer[window.Window](), "window", true},
		{infer[struct{}](), "empty", true},

		{infer[orderID](), "string", true},
		{infer[category](), "string", true}, // its text form is for JSON
		{infer[payload](), "bytes", true},
		{infer[amount](), "int64", true},
		{infer[level](), "int8", true},
		{infer[flag](), "bool", true},
		{infer[ratio](), "float64", false},
		{infer[nothing](), "empty", true},
		{infer[digest](), "[4]byte", true},

		{infer[pair[string, int]](), "kv(string,int64)", true},
		{infer[pair[float64, int]](), "kv(float64,int64)", false},
		{infer[pair[int, float64]](), "kv(int64,float64)", false},
		{infer[pair[pair[string, bool], order]](), "kv(kv(string,bool),json:order)", true},

		{infer[*wrapperspb.StringValue](), "proto:google.protobuf.StringValue", false},
		{infer[pair[string, *wrapperspb.Int64Value]](), "kv(string,proto:google.protobuf.Int64Value)", false},

		{infer[order](), "json:order", true},
		{infer[*order](), "json:*order", true},
		{infer[lines](), "json:lines", true},
		{infer[[]line](), "json:[]line", true},
		{infer[[3]int](), "json:[3]int64", true},
		{infer[[]orderID](), "json:[]string", true},
		{infer[[]category](), "json:[]category", true},
		{infer[[]uint](), "json:[]uint64", true},
		{infer[*string](), "json:*string", true},
		{infer[struct{ A, B int }](), "json:struct", true},
		{infer[box[int]](), "json:box[int]", true},
		{infer[generic](), "json:generic", true},
		{infer[netip.Addr](), "json:Addr", true},
		{infer[big.Int](), "json:Int", true},
		{infer[weighted](), "json:weighted", false},
		{infer[open](), "json:open", false},
		{infer[any](), "json:interface", false},
		{infer[tagged](), "json:tagged", false},
		{infer[map[orderID][]float32](), "json:map[string][]float32", false},
		{infer[map[time.Time]int](), "json:map[Time]int64", false},
	} {
		if c.got != (inferred{c.name, c.deterministic, nil}) {
			t.Errorf("%q: got %+v, want deterministic %v", c.name, c.got, c.deterministic)
		}
	}
}

// TestKVIsDeterministicWhereBothPartsAre: either part alone spoils a key.
func TestKVIsDeterministicWhereBothPartsAre(t *testing.T) { // S-06
	good, bad := coder.String(), mustFor[float64](t)
	if c := coder.KV(good, good); !c.Deterministic || c.Name != "kv(string,string)" {
		t.Errorf("%s is not deterministic", c.Name)
	}
	for name, deterministic := range map[string]bool{
		coder.KV(good, bad).Name: coder.KV(good, bad).Deterministic,
		coder.KV(bad, good).Name: coder.KV(bad, good).Deterministic,
	} {
		if deterministic {
			t.Errorf("%s is deterministic", name)
		}
	}
}

// TestForNamesNoPackage: a type may move, and a checkout may lie anywhere.
func TestForNamesNoPackage(t *testing.T) {
	if got := infer[box[order]]().name; got != "json:box[order]" {
		t.Errorf("got %q", got)
	}
	if got := infer[box[map[string]*box[line]]]().name; got != "json:box[map[string]*box[line]]" {
		t.Errorf("got %q", got)
	}
}

type (
	secret    struct{ Order struct{ cached string } }
	secrets   []secret
	writeOnly struct{ At oneWay }
	oneWay    struct{}
	stamped   struct {
		time.Time
		Name string
	}
	stamp   struct{ time.Time }
	hidden  struct{ Seen int }
	hiddenN int //lint:ignore U1000 reached by reflection
	embeds  struct {
		hidden
		Name string
	}
	embedsPointer struct{ *hidden }
	embedsNumber  struct{ hiddenN } //lint:ignore U1000 reached by reflection
	skips         struct {
		Name   string
		Cached func() `json:"-"`
		_      int
	}
	wallClock time.Time
)

func (oneWay) MarshalText() ([]byte, error) { return nil, nil }

// TestForRefusesWhatWouldBeLost: no type gets a coder that drops part of it.
func TestForRefusesWhatWouldBeLost(t *testing.T) {
	for _, c := range []struct {
		name    string
		got     inferred
		mention string
	}{
		{"unexported field", infer[secrets](), "field Order.cached is not exported"},
		{"time in another name", infer[wallClock](), "field wall is not exported"},
		{"embedded pointer to unexported", infer[embedsPointer](), "field hidden is not exported"},
		{"embedded unexported number", infer[embedsNumber](), "field hiddenN is not exported"},
		{"embedded type writes the JSON", infer[stamped](), "embeds time.Time"},
		{"writes JSON, does not read it", infer[writeOnly](), "field At writes its own JSON"},
		{"channel", infer[struct{ C chan int }](), "field C has no JSON form"},
		{"function", infer[func()](), "it has no JSON form"},
		{"complex", infer[complex128](), "it has no JSON form"},
		{"interface with methods", infer[struct{ Err error }](), "field Err cannot be read back"},
		{"map keys", infer[map[struct{ X int }]string](), "keys that JSON cannot write"},
		{"message by value", infer[box[wrapperspb.StringValue]](), "field Content is a protobuf message"},
		{"message inside", infer[[]*wrapperspb.StringValue](), "it is a protobuf message"},
		{"message as an interface", infer[proto.Message](), "it cannot be read back"},
		{"message without a type", infer[*dynamicpb.Message](), "type is unknown"},
		{"wrapped message", infer[*wrapsMessage](), "message"},
		{"in a KV", infer[pair[chan int, secret]](), "key: it has no JSON form"},
		{"in a KV, both listed", infer[pair[chan int, secret]](), "value: field Order.cached"},
	} {
		if c.got.err == nil || !strings.Contains(c.got.err.Error(), c.mention) {
			t.Errorf("%s: error %v does not mention %q", c.name, c.got.err, c.mention)
		}
	}
}

type wrapsMessage struct{ *wrapperspb.StringValue }

func TestForTakesWhatIsLeftOutOnPurpose(t *testing.T) {
	for _, got := range []inferred{infer[skips](), infer[embeds](), infer[stamp]()} {
		if got.err != nil {
			t.Error(got.err)
		}
	}
}
