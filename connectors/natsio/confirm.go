package natsio

import (
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

// confirmer waits for the broker's confirmations of acknowledgements. One
// subscription serves all calls; its callback is the client's goroutine.
type confirmer struct {
	prefix string
	sub    *nats.Subscription
	mu     struct {
		sync.Mutex
		calls map[uint64]*confirmation
		last  uint64
	}
}

// confirmation is what one call waits for: some replies.
type confirmation struct {
	// prefix is what the reply subjects begin with; the reply's number follows.
	prefix string
	id     uint64
	done   chan struct{} // closed when none is missing, or the call was failed

	// Guarded by the confirmer's mu until done is closed.
	replied []bool
	errs    []error
	missing int
	failed  error
}

func newConfirmer(nc *nats.Conn) (*confirmer, error) {
	c := &confirmer{prefix: nc.NewInbox() + "."}
	c.mu.calls = map[uint64]*confirmation{}
	var err error
	c.sub, err = nc.Subscribe(c.prefix+">", c.reply)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// begin expects a reply for each true.
func (c *confirmer) begin(will []bool) *confirmation {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.last++
	call := &confirmation{
		id: c.mu.last, prefix: c.prefix + strconv.FormatUint(c.mu.last, 10) + ".",
		done: make(chan struct{}), replied: make([]bool, len(will)), errs: make([]error, len(will)),
	}
	for i := range will {
		call.replied[i] = !will[i]
		if will[i] {
			call.missing++
		}
	}
	c.mu.calls[call.id] = call
	return call
}

// subject is where reply i is to be sent.
func (call *confirmation) subject(i int) string { return call.prefix + strconv.Itoa(i) }

// reply takes one confirmation.
func (c *confirmer) reply(m *nats.Msg) {
	first, second, _ := strings.Cut(strings.TrimPrefix(m.Subject, c.prefix), ".")
	id, _ := strconv.ParseUint(first, 10, 64)
	i, err := strconv.Atoi(second)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.mu.calls[id]
	if call == nil || i >= len(call.replied) || call.replied[i] {
		return
	}
	call.replied[i] = true
	if m.Header.Get(headerStatus) == statusNoResponders {
		call.errs[i] = nats.ErrNoResponders
	}
	if call.missing--; call.missing == 0 {
		delete(c.mu.calls, id)
		close(call.done)
	}
}

// end stops waiting and returns the outcome of each reply; unanswered is that of
// one that has not come.
func (c *confirmer) end(call *confirmation, unanswered error) []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mu.calls, call.id)
	if call.failed != nil {
		unanswered = call.failed
	}
	out := make([]error, len(call.errs))
	for i := range out {
		if out[i] = call.errs[i]; !call.replied[i] {
			out[i] = unanswered
		}
	}
	return out
}

// failAll ends all calls that wait: their replies will not come.
func (c *confirmer) failAll(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.mu.calls {
		call.failed = err
		delete(c.mu.calls, id)
		close(call.done)
	}
}

func (c *confirmer) close() { _ = c.sub.Unsubscribe() }
