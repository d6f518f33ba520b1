package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gosluice/sluice/connectors/memory"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/sinks"
)

// clock is a clock of the test.
type clock struct{ now time.Time }

func newClock() *clock                   { return &clock{time.Unix(1_700_000_000, 0)} }
func (c *clock) Now() time.Time          { return c.now }
func (c *clock) Advance(d time.Duration) { c.now = c.now.Add(d) }

func openAs(t *testing.T, q *memory.Queue, index, count int) source.Reader {
	t.Helper()
	r, err := q.Open(t.Context(), source.Options{Index: index, Count: count, Wake: func() {}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t *testing.T, q *memory.Queue) source.Reader { t.Helper(); return openAs(t, q, 0, 1) }

func publish(q *memory.Queue, n int) {
	for i := range n {
		q.Publish("memory", memory.Message{Data: fmt.Append(nil, i)})
	}
}

func poll(t *testing.T, r source.Reader) []source.Message {
	t.Helper()
	buf := make([]source.Message, 1000)
	p, err := r.Poll(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:p.N]
}

func settle(v source.Verdict, m ...source.Message) (list []source.Settlement) {
	for _, m := range m {
		list = append(list, source.Settlement{Ref: uint64(m.Position), Channel: m.Channel, Position: m.Position, Verdict: v, Handle: m.Handle})
	}
	return list
}

func TestRecords(t *testing.T) {
	c := newClock()
	var seen []memory.Event
	q := memory.NewQueue(memory.Config{Now: c.Now, Observe: func(e memory.Event) { seen = append(seen, e) }})
	publish(q, 4)
	r := open(t, q)
	m := poll(t, r)
	r.Settle(t.Context(), settle(source.Ack, m[0], m[0]))
	nack := settle(source.Nack, m[1])
	nack[0].Delay, nack[0].Reason = time.Minute, "later"
	r.Settle(t.Context(), nack)
	r.Settle(t.Context(), settle(source.Terminate, m[2]))
	r.Extend(t.Context(), settle(source.Ack, m[3]))

	for i, want := range []memory.Record{
		{Delivered: 1, Acks: 2, Acked: true},
		{Delivered: 1, Nacks: 1},
		{Delivered: 1, Terms: 1, Terminated: true},
		{Delivered: 1, Extensions: 1, Leased: true},
	} {
		want.Channel, want.Position, want.Data = "memory", source.Position(i+1), fmt.Append(nil, i)
		if got := q.Record("memory", want.Position); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if fmt.Sprint(q.Acked("memory"), q.Nacked("memory"), q.Terminated("memory"), q.Unsettled()) != "[1] [2] [3] 2" {
		t.Error(q.Acked("memory"), q.Nacked("memory"), q.Terminated("memory"), q.Unsettled())
	}
	events := q.Events()
	if len(events) != 4 || fmt.Sprint(events) != fmt.Sprint(seen) || events[2].Reason != "later" || !events[2].Applied || !events[2].Known {
		t.Errorf("%+v", events)
	}
	if got := q.Record("memory", 9); got.Position != 0 {
		t.Errorf("%+v", got)
	}
	c.Advance(59 * time.Second)
	if again := poll(t, r); len(again) != 1 || again[0].Position != 4 { // its lease is over
		t.Errorf("%v", again)
	}
	c.Advance(time.Second)
	if again := poll(t, r); len(again) != 1 || again[0].Position != 2 || again[0].Attempt != 2 {
		t.Errorf("%v", again)
	}
}

func TestFates(t *testing.T) {
	for fate, want := range map[memory.Fate]struct {
		class          fault.Class
		told, applied  bool
		deliveredAgain bool
	}{
		memory.Arrive:           {applied: true},
		memory.LoseRequest:      {told: true, class: fault.Transient},
		memory.LoseConfirmation: {told: true, class: fault.Ambiguous, applied: true},
		memory.LoseLease:        {told: true, class: fault.Lost, deliveredAgain: true},
		memory.LoseSilently:     {},
	} {
		q := memory.NewQueue(memory.Config{Now: newClock().Now, Faults: memory.Faults{
			Settle: func(*source.Settlement) memory.Fate { return fate },
		}})
		publish(q, 1)
		r := open(t, q)
		m := poll(t, r)
		f := r.Settle(t.Context(), settle(source.Ack, m...))
		if len(f) == 1 != want.told || want.told && fault.Of(f[0].Err) != want.class {
			t.Errorf("fate %d: %v", fate, f)
		}
		if got := q.Record("memory", 1); got.Acked != want.applied {
			t.Errorf("fate %d: %+v", fate, got)
		}
		if again := poll(t, r); len(again) == 1 != want.deliveredAgain {
			t.Errorf("fate %d: %v", fate, again)
		}
	}
}

func TestFaultsOfCalls(t *testing.T) {
	broken := errors.New("broken")
	fail := true
	q := memory.NewQueue(memory.Config{Faults: memory.Faults{
		Open: func(int) error {
			if fail {
				return broken
			}
			return nil
		},
		Poll:   func(int) error { return broken },
		Close:  func(int) error { return broken },
		Extend: func(*source.Settlement) error { return broken },
	}})
	o := source.Options{Count: 1, Wake: func() {}}
	if _, err := q.Open(t.Context(), o); !errors.Is(err, broken) {
		t.Error(err)
	}
	fail = false
	r := open(t, q)
	if _, err := r.Poll(nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := r.Close(t.Context()); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Open(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if f := r.Settle(ctx, make([]source.Settlement, 2)); len(f) != 2 || fault.Of(f[0].Err) != fault.Closed {
		t.Error(f)
	}
}

// The same seed gives the same deliveries; another gives another order.
func TestShuffleIsDeterministic(t *testing.T) {
	run := func(seed uint64) string {
		q := memory.NewQueue(memory.Config{Now: newClock().Now, Shuffle: rand.New(rand.NewPCG(seed, 0))})
		publish(q, 20)
		poll(t, open(t, q))
		var order []source.Position
		for _, m := range poll(t, open(t, q)) {
			order = append(order, m.Position)
		}
		return fmt.Sprint(order)
	}
	first, again, other := run(1), run(1), run(2)
	if first != again || first == other {
		t.Errorf("%s, %s, %s", first, again, other)
	}
	plain := memory.NewQueue(memory.Config{Now: newClock().Now})
	publish(plain, 3)
	poll(t, open(t, plain))
	if again := poll(t, open(t, plain)); len(again) != 3 || again[0].Position != 1 || again[2].Position != 3 {
		t.Errorf("%v", again)
	}
}

// A process dies: its readers can do nothing any more, what they had is due.
func TestCrash(t *testing.T) {
	q := memory.NewQueue(memory.Config{Now: newClock().Now, KeepLeases: true})
	publish(q, 3)
	r := open(t, q)
	m := poll(t, r)
	q.Crash()
	if f := r.Settle(t.Context(), settle(source.Ack, m...)); len(f) != 3 || fault.Of(f[0].Err) != fault.Closed {
		t.Errorf("%v", f)
	}
	if again := poll(t, open(t, q)); len(again) != 3 {
		t.Errorf("%d come again", len(again))
	}
}

func TestReadersShareChannels(t *testing.T) {
	q := memory.NewQueue(memory.Config{Channels: []string{"a", "b", "c"}, Now: newClock().Now})
	for _, c := range []string{"a", "b", "c"} {
		q.Publish(c, memory.Message{Data: []byte(c + "0")}, memory.Message{Data: []byte(c + "1")})
	}
	text := func(m []source.Message) (s string) {
		for _, m := range m {
			s += fmt.Sprintf("%d:%s ", m.Channel, m.Data)
		}
		return s
	}
	if got := text(poll(t, openAs(t, q, 0, 2))); got != "0:a0 1:c0 0:a1 1:c1 " {
		t.Error(got)
	}
	if got := text(poll(t, openAs(t, q, 1, 2))); got != "0:b0 0:b1 " {
		t.Error(got)
	}
	if _, err := q.Open(t.Context(), source.Options{Index: 3, Count: 4, Wake: func() {}}); fault.Of(err) != fault.Permanent {
		t.Error(err)
	}
}

func TestClaim(t *testing.T) {
	q := memory.NewQueue(memory.Config{})
	try := func(claim string) error {
		_, err := q.Open(t.Context(), source.Options{Count: 1, Wake: func() {}, Claim: claim})
		return err
	}
	if err := errors.Join(try(""), try("a"), try("a")); err != nil {
		t.Error(err)
	}
	if err := try("b"); fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Error(err)
	}
}

func TestFencedRefusesStaleVerdicts(t *testing.T) {
	c := newClock()
	q := memory.NewQueue(memory.Config{Now: c.Now, Lease: time.Second, Fenced: true})
	publish(q, 1)
	r := open(t, q)
	first := poll(t, r)
	c.Advance(time.Second)
	second := poll(t, r)
	if f := r.Settle(t.Context(), settle(source.Ack, first...)); len(f) != 1 || fault.Of(f[0].Err) != fault.Lost {
		t.Errorf("%v", f)
	}
	if f := r.Extend(t.Context(), settle(source.Ack, first...)); len(f) != 1 || fault.Of(f[0].Err) != fault.Lost {
		t.Errorf("%v", f)
	}
	if f := r.Settle(t.Context(), settle(source.Ack, second...)); len(f) != 0 {
		t.Errorf("%v", f)
	}
}

func TestValidate(t *testing.T) {
	err := memory.Config{Channels: []string{"a", "a"}, Lease: -1, Quota: -1, Readers: 9}.Validate()
	for _, field := range []string{"Channels", "Lease", "Quota", "Readers"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field+":") {
			t.Errorf("no word about %s in %v", field, err)
		}
	}
}

func TestPublisherFaults(t *testing.T) {
	broken := errors.New("broken")
	once := func() func(*sinks.OutMessage) error {
		seen := map[string]bool{}
		return func(m *sinks.OutMessage) error {
			if seen[m.ID] || m.ID == "good" {
				return nil
			}
			seen[m.ID] = true
			return broken
		}
	}
	msgs := []sinks.OutMessage{{ID: "good"}, {ID: "bad", Data: []byte("x"), Attributes: map[string]string{"k": "v"}}}
	for name, c := range map[string]struct {
		cfg    memory.PublisherConfig
		stored int
	}{
		"before the send":               {memory.PublisherConfig{Before: once()}, 3},
		"after the send":                {memory.PublisherConfig{After: once()}, 4},
		"after the send, deduplicating": {memory.PublisherConfig{After: once(), Deduplicate: true}, 2},
	} {
		q := memory.NewQueue(memory.Config{})
		c.cfg.Queue, c.cfg.Channel = q, "memory"
		p := memory.NewPublisher(c.cfg)
		done, failures := p.Publish(t.Context(), msgs)
		if len(done) != 1 || len(failures) != 1 || failures[0].ID != "bad" {
			t.Errorf("%s: %v, %v", name, done, failures)
		}
		if done, failures = p.Publish(t.Context(), msgs); len(done) != 2 || len(failures) != 0 {
			t.Errorf("%s: again: %v, %v", name, done, failures)
		}
		if got := len(p.Messages()); got != c.stored || p.Attempts("bad") != 2 || len(q.Records()) != got {
			t.Errorf("%s: %d stored, %d attempts, %d in the queue", name, got, p.Attempts("bad"), len(q.Records()))
		}
	}
}
