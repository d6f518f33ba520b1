package coder_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// erased is a coder whose type the compiler need not know: the checks below are
// compiled once instead of once for each of some forty types.
type erased struct {
	name   string
	append func(dst []byte, v any) ([]byte, error)
	read   func(b []byte) (any, error)
}

func erase[T any](c coder.Coder[T]) erased {
	return erased{
		name:   c.Name,
		append: func(dst []byte, v any) ([]byte, error) { return c.Append(dst, v.(T)) },
		read:   func(b []byte) (any, error) { return c.Read(b) },
	}
}

// comesBack checks that values of gen survive c.
func comesBack[T any](t *testing.T, c coder.Coder[T], gen *rapid.Generator[T]) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) { erase(c).comesBack(t, gen.AsAny().Draw(t, "v")) })
}

// comesBack checks that v survives, whatever lies before it, and that the value
// read does not share the bytes. It returns them.
func (c erased) comesBack(t *rapid.T, v any) (encoded []byte) {
	before := []byte("before")
	b, err := c.append(before, v)
	if err != nil || !bytes.HasPrefix(b, before) {
		t.Fatalf("%s: wrote %q, %v", c.name, b, err)
	}
	encoded = b[len(before):]
	shared := bytes.Clone(encoded)
	got, err := c.read(shared)
	clear(shared)
	if err != nil || !reflect.DeepEqual(got, v) {
		t.Fatalf("%s: read %#v, %v, want %#v", c.name, got, err, v)
	}
	return encoded
}

// forComesBack checks the coder inferred for T, alone and as both parts of a KV:
// the KV's coder writes the same bytes inferred and composed.
func forComesBack[T any](t *testing.T, gen *rapid.Generator[T]) {
	t.Helper()
	c := mustFor[T](t)
	inferredKV, composedKV := mustFor[pair[T, T]](t), coder.KV(c, c)
	if inferredKV.Name != composedKV.Name || inferredKV.Deterministic != composedKV.Deterministic {
		t.Errorf("inferred %q, composed %q", inferredKV.Name, composedKV.Name)
	}
	pairOf := func(k, v any) any { return pair[T, T]{Key: k.(T), Value: v.(T)} }
	partsComeBack(t, gen.AsAny(), erase(c), pairOf, erase(inferredKV), erase(composedKV))
}

func partsComeBack(t *testing.T, gen *rapid.Generator[any], alone erased,
	pairOf func(k, v any) any, inferredKV, composedKV erased) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		k, v := gen.Draw(t, "key"), gen.Draw(t, "value")
		alone.comesBack(t, k)
		inferred := inferredKV.comesBack(t, pairOf(k, v))
		composed := composedKV.comesBack(t, pairOf(k, v))
		if !bytes.Equal(inferred, composed) {
			t.Fatalf("inferred writes %x, composed %x", inferred, composed)
		}
	})
}

func anyInstant() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		seconds := rapid.Int64Range(math.MinInt64/2, math.MaxInt64/2).Draw(t, "seconds")
		return time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC()
	})
}

func anyWindow() *rapid.Generator[window.Window] {
	fixed := rapid.Custom(func(t *rapid.T) window.Window {
		return window.Window{Start: event.Time(rapid.Int64().Draw(t, "start")), End: event.Time(rapid.Int64().Draw(t, "end"))}
	})
	return rapid.OneOf(rapid.Just(window.GlobalWindow), fixed)
}

func anyOrder() *rapid.Generator[order] {
	line := rapid.Custom(func(t *rapid.T) line {
		return line{Item: rapid.String().Draw(t, "item"), Count: rapid.Int().Draw(t, "count")}
	})
	return rapid.Custom(func(t *rapid.T) order {
		o := order{
			ID: orderID(rapid.String().Draw(t, "id")), Lines: rapid.SliceOfN(line, 0, 3).Draw(t, "lines"),
			At: time.UnixMicro(rapid.Int64Range(0, 1e15).Draw(t, "at")).UTC(),
		}
		if rapid.Bool().Draw(t, "next") {
			o.Next = &order{ID: "next"}
		}
		return o
	})
}

func as[T, F any](gen *rapid.Generator[F], conv func(F) T) *rapid.Generator[T] {
	return rapid.Map(gen, conv)
}

func TestBasicTypesComeBack(t *testing.T) {
	forComesBack(t, rapid.OneOf(rapid.String(), rapid.Just(string(make([]byte, 300))), rapid.Just("\xff")))
	forComesBack(t, rapid.SliceOf(rapid.Byte()))
	forComesBack(t, rapid.Bool())
	forComesBack(t, rapid.Int())
	forComesBack(t, rapid.Int64())
	forComesBack(t, rapid.Int32())
	forComesBack(t, rapid.Int16())
	forComesBack(t, rapid.Int8())
	forComesBack(t, rapid.Uint())
	forComesBack(t, rapid.Uintptr())
	forComesBack(t, rapid.Uint64())
	forComesBack(t, rapid.Uint32())
	forComesBack(t, rapid.Uint16())
	forComesBack(t, rapid.Uint8())
	forComesBack(t, rapid.OneOf(rapid.Float64(), rapid.Just(math.Inf(-1))))
	forComesBack(t, rapid.Float32())
	forComesBack(t, anyInstant())
	forComesBack(t, anyWindow())
	forComesBack(t, rapid.Just(struct{}{}))
}

func TestNamedTypesComeBack(t *testing.T) {
	forComesBack(t, as(rapid.String(), func(v string) orderID { return orderID(v) }))
	forComesBack(t, as(rapid.String(), func(v string) category { return category(v) }))
	forComesBack(t, as(rapid.SliceOf(rapid.Byte()), func(v []byte) payload { return v }))
	forComesBack(t, as(rapid.Int64(), func(v int64) amount { return amount(v) }))
	forComesBack(t, as(rapid.Int64(), func(v int64) event.Time { return event.Time(v) }))
	forComesBack(t, as(rapid.Int8(), func(v int8) level { return level(v) }))
	forComesBack(t, as(rapid.Bool(), func(v bool) flag { return flag(v) }))
	forComesBack(t, as(rapid.Float64(), func(v float64) ratio { return ratio(v) }))
	forComesBack(t, as(rapid.Uint32(), func(v uint32) (d digest) {
		binary.BigEndian.PutUint32(d[:], v)
		return d
	}))
	forComesBack(t, rapid.Just(nothing{}))
}

func TestJSONTypesComeBack(t *testing.T) {
	forComesBack(t, anyOrder())
	forComesBack(t, as(anyOrder(), func(o order) *order { return &o }))
	forComesBack(t, rapid.Just[*order](nil))
	forComesBack(t, as(anyOrder(), func(o order) lines { return o.Lines }))
	forComesBack(t, rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Int())))
	forComesBack(t, as(rapid.String(), func(v string) []category { return []category{category(v)} }))
	forComesBack(t, as(rapid.Int(), func(v int) embeds { return embeds{hidden: hidden{v}, Name: "n"} }))
}

func TestNaNKeepsItsBits(t *testing.T) {
	c := mustFor[float64](t)
	want := math.Float64frombits(0x7ff8_0000_dead_beef)
	b, _ := c.Append(nil, want)
	if got, err := c.Read(b); err != nil || math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("read %x, %v", math.Float64bits(got), err)
	}
}

// sortsLike checks that encodings compare as values do.
func sortsLike[T any](t *testing.T, gen *rapid.Generator[T], compare func(a, b T) int) {
	t.Helper()
	c := mustFor[T](t)
	rapid.Check(t, func(t *rapid.T) {
		v, w := gen.Draw(t, "v"), gen.Draw(t, "w")
		a, _ := c.Append(nil, v)
		b, _ := c.Append(nil, w)
		if got, want := bytes.Compare(a, b), compare(v, w); got != want {
			t.Fatalf("%s: bytes of %v and %v compare %d, want %d", c.Name, v, w, got, want)
		}
	})
}

func TestEncodingsSortLikeValues(t *testing.T) {
	sortsLike(t, rapid.OneOf(rapid.Int(), rapid.IntRange(-1, 1)), cmp.Compare)
	sortsLike(t, rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1, 1)), cmp.Compare)
	sortsLike(t, rapid.Int32(), cmp.Compare)
	sortsLike(t, rapid.Int16(), cmp.Compare)
	sortsLike(t, rapid.Int8(), cmp.Compare)
	sortsLike(t, rapid.Uint(), cmp.Compare)
	sortsLike(t, rapid.Uint64(), cmp.Compare)
	sortsLike(t, rapid.Uint32(), cmp.Compare)
	sortsLike(t, rapid.Uint16(), cmp.Compare)
	sortsLike(t, rapid.Uint8(), cmp.Compare)
	sortsLike(t, rapid.StringMatching(`[ab]{0,3}`), cmp.Compare)
	sortsLike(t, as(rapid.Int64(), func(v int64) event.Time { return event.Time(v) }), cmp.Compare)
	sortsLike(t, anyInstant(), time.Time.Compare)
	sortsLike(t, anyWindow(), window.Window.Compare)
}

// TestEqualInstantsAreOneKey: S2, keys are compared by their bytes.
func TestEqualInstantsAreOneKey(t *testing.T) {
	c := mustFor[time.Time](t)
	now := time.Now() // with the monotonic reading and the local zone
	a, _ := c.Append(nil, now)
	b, _ := c.Append(nil, now.In(time.FixedZone("east", 3600)).Round(0))
	got, err := c.Read(a)
	if !bytes.Equal(a, b) || err != nil || !got.Equal(now) {
		t.Errorf("%x and %x, read %v, %v, want %v", a, b, got, err, now)
	}
	zero, _ := c.Append(nil, time.Time{})
	if got, err := c.Read(zero); err != nil || !got.IsZero() {
		t.Errorf("the zero time reads as %v, %v", got, err)
	}
}

// TestReadRefusesOtherLengths holds for all coders of one width.
func TestReadRefusesOtherLengths(t *testing.T) {
	refuses(t, mustFor[bool](t), 1)
	refuses(t, mustFor[int](t), 8)
	refuses(t, mustFor[int32](t), 4)
	refuses(t, mustFor[uint16](t), 2)
	refuses(t, mustFor[int8](t), 1)
	refuses(t, mustFor[float64](t), 8)
	refuses(t, mustFor[float32](t), 4)
	refuses(t, mustFor[amount](t), 8)
	refuses(t, mustFor[time.Time](t), 12)
	refuses(t, mustFor[window.Window](t), 16)
	refuses(t, mustFor[struct{}](t), 0)
	refuses(t, mustFor[digest](t), 4)
	_, err := mustFor[bool](t).Read([]byte{2})
	wantMalformed(t, err)
	_, err = mustFor[time.Time](t).Read(bytes.Repeat([]byte{0xff}, 12)) // too many nanoseconds
	wantMalformed(t, err)
}

func refuses[T any](t *testing.T, c coder.Coder[T], width int) {
	t.Helper()
	for n := range width + 3 {
		_, err := c.Read(make([]byte, n))
		if n == width && err != nil {
			t.Errorf("%s: %d bytes: %v", c.Name, n, err)
		} else if n != width {
			wantMalformed(t, err)
		}
	}
}

// TestEncodingsAreForEver pins bytes that are on disk under their names.
func TestEncodingsAreForEver(t *testing.T) {
	pinned(t, "string", "ab", "ab")
	pinned(t, "int64", -2, "\x7f\xff\xff\xff\xff\xff\xff\xfe")
	pinned(t, "int32", int32(1), "\x80\x00\x00\x01")
	pinned(t, "int16", int16(-1), "\x7f\xff")
	pinned(t, "int8", int8(-1), "\x7f")
	pinned(t, "uint16", uint16(258), "\x01\x02")
	pinned(t, "bool", true, "\x01")
	pinned(t, "float64", 1.5, "\x3f\xf8\x00\x00\x00\x00\x00\x00")
	pinned(t, "time", time.Unix(1, 2), "\x80\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02")
	pinned(t, "kv(string,uint8)", pair[string, uint8]{Key: "k", Value: 7}, "\x01k\x07")
	pinned(t, "json:line", line{Item: "i", Count: 2}, `{"Item":"i","Count":2}`)
}

func pinned[T any](t *testing.T, name string, v T, want string) {
	t.Helper()
	c := mustFor[T](t)
	if got, err := c.Append(nil, v); err != nil || string(got) != want || c.Name != name {
		t.Errorf("%s: wrote %q, %v under the name %s, want %q", name, got, err, c.Name, want)
	}
}

func anyElement[T any](v T) element.Element[T] {
	return element.Element[T]{Value: v, Window: window.GlobalWindow, Pane: event.NoFiring}
}
