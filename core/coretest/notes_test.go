package coretest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

// note is what is published about one key and window, or one window.
type note struct {
	Key    int
	Window window.Window
	Count  int
	Sum    int
}

// notes is a broker that is published to. It implements [sinks.Publisher].
type notes struct {
	r *rig
	// dedup: it drops repeated ids.
	dedup    bool
	accepted []note
	ids      map[string]note
	// onNote is called for every note that is accepted.
	onNote func(note)
}

func newNotes(r *rig) *notes {
	return &notes{r: r, dedup: r.random.IntN(2) == 0, ids: map[string]note{}}
}

func encodeNote(n note) (sinks.OutMessage, error) {
	data, err := json.Marshal(n)
	return sinks.OutMessage{Data: data}, err
}

// Deduplicates implements [sinks.Publisher].
func (p *notes) Deduplicates() bool { return p.dedup }

// Publish implements [sinks.Publisher]. Some messages of a call may fail, before
// they were sent or after.
func (p *notes) Publish(_ context.Context, messages []sinks.OutMessage) (done []sinks.Published, failed []sinks.PublishFailure) {
	for _, m := range messages {
		before, after := p.r.w.Chance(30), p.r.w.Chance(30)
		if !before {
			p.accept(m)
		}
		if before || after {
			failed = append(failed, sinks.PublishFailure{ID: m.ID, Err: fmt.Errorf("not confirmed")})
			continue
		}
		done = append(done, sinks.Published{ID: m.ID, MessageID: m.ID})
	}
	return done, failed
}

func (p *notes) accept(m sinks.OutMessage) {
	var n note
	if err := json.Unmarshal(m.Data, &n); err != nil {
		p.r.w.Fail(err)
	}
	old, repeated := p.ids[m.ID]
	if repeated && old != n {
		p.r.fail("message %s was %+v and is now %+v", m.ID, old, n)
	}
	if !repeated && !p.r.pendingEffect([]byte(base64.StdEncoding.EncodeToString(m.Data))) {
		p.r.fail("note %+v is published before its commit", n)
	}
	p.ids[m.ID] = n
	if repeated && p.dedup {
		return
	}
	p.accepted = append(p.accepted, n)
	if p.onNote != nil {
		p.onNote(n)
	}
}

// once: no two messages speak of the same key and window, or, where the broker
// does not drop repeats, none under different ids.
func (p *notes) once() error {
	of := map[string]string{}
	for id, n := range p.ids {
		what := fmt.Sprint(n.Key, n.Window)
		if other, ok := of[what]; ok {
			return fmt.Errorf("two messages about key %d in %v: %s and %s", n.Key, n.Window, id, other)
		}
		of[what] = id
	}
	if p.dedup && len(p.accepted) != len(p.ids) {
		return fmt.Errorf("%d notes under %d ids", len(p.accepted), len(p.ids))
	}
	return nil
}
