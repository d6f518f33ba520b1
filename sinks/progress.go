package sinks

import (
	"context"
	"errors"
	"sync"

	"github.com/gosluice/sluice/core/fault"
)

// progress remembers which messages of a call that has to be repeated the broker
// has confirmed, so that the repeat sends only the others. The zero value is ready.
type progress struct {
	mu sync.Mutex
	// confirmed, guarded by mu, is by message ID; a message leaves it when its whole
	// call is done.
	confirmed map[string]Published
}

// send publishes what is not confirmed yet. Permanent failures are failed records,
// by ids; any other asks for a repeat of the call.
func (p *progress) send(ctx context.Context, to Publisher, messages []OutMessage, ids map[string]RecordID) (Outcome[Published], error) {
	done, rest := p.split(messages)
	if len(rest) > 0 {
		results, failures := to.Publish(ctx, rest)
		done = append(done, results...)
		out := Outcome[Published]{Results: done}
		var again error
		for _, f := range failures {
			if fault.Of(f.Err) == fault.Permanent {
				out.Failed = append(out.Failed, FailedRecord{ID: ids[f.ID], Err: f.Err})
			} else {
				again = errors.Join(again, f.Err)
			}
		}
		if again != nil {
			p.keep(results)
			return Outcome[Published]{}, again
		}
		p.forget(messages)
		return out, nil
	}
	p.forget(messages)
	return Outcome[Published]{Results: done}, nil
}

func (p *progress) split(messages []OutMessage) (done []Published, rest []OutMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.confirmed) == 0 {
		return nil, messages
	}
	for _, m := range messages {
		if r, ok := p.confirmed[m.ID]; ok {
			done = append(done, r)
		} else {
			rest = append(rest, m)
		}
	}
	return done, rest
}

func (p *progress) keep(results []Published) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.confirmed == nil {
		p.confirmed = map[string]Published{}
	}
	for _, r := range results {
		p.confirmed[r.ID] = r
	}
}

func (p *progress) forget(messages []OutMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.confirmed) == 0 {
		return
	}
	for _, m := range messages {
		delete(p.confirmed, m.ID)
	}
}
