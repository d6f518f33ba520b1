package core

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// ReadOptions say how messages become elements. The zero value takes the
// broker's time as event time.
type ReadOptions[T any] struct {
	// EventTime is when the value happened; nil: the broker's time of the message.
	EventTime func(T) time.Time
	// OutOfOrder is how far event times may lie behind the largest seen before they
	// count as late.
	OutOfOrder time.Duration
	// Bounded says that the source ends by itself.
	Bounded bool
	// Errors say what becomes of undecodable messages where the second output of
	// Read is not used.
	Errors []Option
}

// Undecoded is a message that decode refused, with all that is known of it.
type Undecoded struct {
	Data       []byte
	Attributes map[string][]string `json:",omitempty"`
	Subject    string              `json:",omitempty"`
	Key        []byte              `json:",omitempty"`
	ID         string              `json:",omitempty"`
	Time       time.Time
	Position   uint64
	Attempt    int
	Reason     string
}

// Read reads src. decode turns a message into a value; it must not keep or change
// Data unless T holds it. Messages that decode refuses or panics on are elements of
// the second output; where nothing consumes that, they are treated by
// ReadOptions.Errors. Both are acknowledged only when what became of them is durable.
func Read[T any](p *Pipeline, name string, src source.Source, decode func(Message) (T, error), options ...ReadOptions[T]) (PCollection[T], PCollection[Undecoded]) {
	var o ReadOptions[T]
	if len(options) > 0 {
		o = options[0]
	}
	g := p.graph
	n := &plan.Node{Name: name, Kind: "Read"}
	if src == nil {
		g.Problem(name, "reads a nil source")
		src = noSource{}
	}
	n.Source = &engine.SourceSpec{Source: src, Caps: src.Capabilities()}
	g.Add(n)
	values := NewOutput[T](g, n, globally, o.Bounded)
	bad := NewOutput[Undecoded](g, n, globally, o.Bounded)
	checkVerdicts(g, n, settings(o.Errors))
	n.Head = func(t *engine.Task, outs []any) (engine.Head, error) {
		d := &decoder[T]{
			decode: decode, eventTime: o.EventTime,
			next: outs[0].(Receiver[T]), bad: outs[1].(Receiver[Undecoded]),
		}
		if !bad.c.Used() {
			d.guard = newGuard[Undecoded](t, n, settings(o.Errors))
		}
		return engine.NewSourceHead(t, o.OutOfOrder, d.emit), nil
	}
	return values, bad
}

// checkVerdicts refuses policies the source cannot carry out.
func checkVerdicts(g *plan.Graph, n *plan.Node, p errorPolicy) {
	if p.exhausted == Reject && !n.Source.Caps.Reject {
		g.Problem(n.Name, "OnExhausted(Reject) on a source without an individual verdict: use Quarantine or Block")
	}
}

// decoder turns one reader's messages into elements.
type decoder[T any] struct {
	decode    func(Message) (T, error)
	eventTime func(T) time.Time
	next      Receiver[T]
	bad       Receiver[Undecoded]
	guard     *guard[Undecoded]
	out       element.Element[T]
}

func (d *decoder[T]) emit(m *source.Message, ref element.Ref) (event.Time, bool) {
	if err := d.read(m, ref); err != nil {
		d.refused(m, ref, err)
		return 0, false
	}
	t := d.out.Time
	d.next(&d.out)
	return t, true
}

// read decodes m into d.out.
func (d *decoder[T]) read(m *source.Message, ref element.Ref) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = engine.Recovered(v)
		}
	}()
	v, err := d.decode(*m)
	if err != nil {
		return err
	}
	t := m.Time
	if d.eventTime != nil {
		if t, err = event.FromTime(d.eventTime(v)); err != nil {
			return err
		}
	}
	if t >= event.Max {
		return fmt.Errorf("event time %v is the end of time (L4)", t)
	}
	d.out = element.Element[T]{Value: v, Time: t, Window: window.GlobalWindow, Pane: event.NoFiring, Ref: ref}
	return nil
}

func (d *decoder[T]) refused(m *source.Message, ref element.Ref, err error) {
	u := element.Element[Undecoded]{
		Value: Undecoded{
			Data: m.Data, Attributes: m.Attributes, Subject: m.Subject, Key: m.Key, ID: m.ID,
			Time: m.Time.Time(), Position: uint64(m.Position), Attempt: m.Attempt, Reason: err.Error(),
		},
		Time: min(m.Time, event.EndOfGlobalWindow), Window: window.GlobalWindow, Pane: event.NoFiring, Ref: ref,
	}
	if d.guard != nil {
		cause := fault.As(fault.Permanent, fmt.Errorf("decode: %w", err))
		d.guard.run(&u, func(*element.Element[Undecoded]) error { return cause })
		return
	}
	d.bad(&u)
}
