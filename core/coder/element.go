package coder

import (
	"encoding/binary"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
)

// The header byte of an encoded element.
const (
	headTiming = 0b11 // the bits of event.Timing
	headFirst  = 1 << 2
	headLast   = 1 << 3
	// headIndexes: the pane's two indexes follow; else both are zero.
	headIndexes = 1 << 4
	// headGlobal: the window is the global one and does not follow.
	headGlobal = 1 << 5
	headKnown  = headTiming | headFirst | headLast | headIndexes | headGlobal
)

// Element composes the coder of an element: its time, window, pane and value. The
// delivery reference is not kept: it ends with the commit.
//
//	header   1 byte    pane flags; which of the next are there
//	time     8 bytes
//	window   16 bytes  not for the global window
//	indexes  2 varints not for event.NoFiring and the first on-time pane
//	value    the rest
//
// That is 9 bytes above the value in the global window, 25 in another one, and 35
// at most.
func Element[T any](value Coder[T]) Coder[element.Element[T]] {
	name := "element(" + value.Name + ")"
	return Coder[element.Element[T]]{
		Name: name,
		Append: func(dst []byte, e element.Element[T]) ([]byte, error) {
			if e.Pane.Timing > event.Late {
				return dst, fault.Errorf(fault.Bug, "coder: %s: pane timing %d", name, e.Pane.Timing)
			}
			out, err := value.Append(appendFrame(dst, e.Time, e.Window, e.Pane), e.Value)
			if err != nil {
				return dst, err
			}
			return out, nil
		},
		Read: func(b []byte) (e element.Element[T], err error) {
			r := frameReader{name: name, rest: b}
			e.Time, e.Window, e.Pane = r.frame()
			if r.err != nil {
				return e, r.err
			}
			e.Value, err = value.Read(r.rest)
			return e, err
		},
		Deterministic: value.Deterministic,
	}
}

func appendFrame(dst []byte, t event.Time, w window.Window, p event.Pane) []byte {
	head := headOf(w, p)
	dst = binary.BigEndian.AppendUint64(append(dst, head), uint64(t)^signBit)
	if head&headGlobal == 0 {
		dst = window.AppendWindow(dst, w)
	}
	if head&headIndexes != 0 {
		dst = binary.AppendVarint(dst, int64(p.Index))
		dst = binary.AppendVarint(dst, int64(p.NonSpeculativeIndex))
	}
	return dst
}

func headOf(w window.Window, p event.Pane) byte {
	head := byte(p.Timing) & headTiming
	set := func(bit byte, is bool) {
		if is {
			head |= bit
		}
	}
	set(headFirst, p.First)
	set(headLast, p.Last)
	set(headIndexes, p.Index != 0 || p.NonSpeculativeIndex != 0)
	set(headGlobal, w == window.GlobalWindow)
	return head
}

// frameReader takes the parts off the beginning of rest. After an error, which it
// keeps, it takes nothing more.
type frameReader struct {
	name string
	rest []byte
	err  error
}

func (r *frameReader) frame() (t event.Time, w window.Window, p event.Pane) {
	head := r.head()
	t, w = r.time(), window.GlobalWindow
	if head&headGlobal == 0 {
		w = r.window()
	}
	p = event.Pane{
		Timing: event.Timing(head & headTiming),
		First:  head&headFirst != 0,
		Last:   head&headLast != 0,
	}
	if head&headIndexes != 0 {
		p.Index, p.NonSpeculativeIndex = r.index(), r.index()
	}
	return t, w, p
}

func (r *frameReader) head() byte {
	b := r.take(1)
	if b == nil {
		return 0
	}
	if b[0]&^headKnown != 0 {
		r.err = malformed(r.name, "header %#x", b[0])
	}
	return b[0]
}

func (r *frameReader) time() event.Time {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return event.Time(binary.BigEndian.Uint64(b) ^ signBit)
}

func (r *frameReader) window() window.Window {
	b := r.take(window.EncodedBytes)
	if b == nil {
		return window.Window{}
	}
	w, _, err := window.ReadWindow(b)
	r.err = err
	return w
}

func (r *frameReader) index() int32 {
	v, n := binary.Varint(r.rest)
	if r.err == nil && (n <= 0 || v != int64(int32(v))) {
		r.err = malformed(r.name, "no pane index")
	}
	if r.err != nil {
		return 0
	}
	r.rest = r.rest[n:]
	return int32(v)
}

// take cuts n bytes off rest; nil if there are fewer.
func (r *frameReader) take(n int) []byte {
	if r.err == nil && len(r.rest) < n {
		r.err = malformed(r.name, "%d bytes where %d were expected", len(r.rest), n)
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
