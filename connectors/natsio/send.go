package natsio

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gosluice/sluice/core/fault"
)

// op is one acknowledgement on its way.
type op struct {
	subject string
	body    []byte
	err     error
}

// send publishes all without waiting in between, then waits until the broker has
// confirmed the last, or each. The outcome is in the ops; those with an error are
// left out. It says whether the ops are its caller's again.
func (r *reader) send(ctx context.Context, ops []op, how Confirm) (over bool) {
	last := lastSound(ops)
	if last < 0 {
		return true
	}
	if err := r.cannotSend(); err != nil {
		setErrors(ops, err)
		return true
	}
	call := r.confirms.begin(expected(ops, how))
	written := make(chan error, 1)
	go func() { written <- r.write(ctx, ops, call, last, how) }()
	over, err := r.await(ctx, call, written)
	for i, e := range r.confirms.end(call, err) {
		if how == ConfirmEach {
			setErrors(ops[i:i+1], e)
		} else {
			setErrors(ops, e)
		}
	}
	return over
}

// expected tells for each reply whether it will come.
func expected(ops []op, how Confirm) []bool {
	if how == ConfirmBatch {
		return []bool{true}
	}
	will := make([]bool, len(ops))
	for i := range ops {
		will[i] = ops[i].err == nil
	}
	return will
}

// write is the goroutine of one call.
func (r *reader) write(ctx context.Context, ops []op, call *confirmation, last int, how Confirm) error {
	for i := range ops {
		o := &ops[i]
		if o.subject == "" {
			continue
		}
		reply := ""
		if how == ConfirmEach {
			reply = call.subject(i)
		} else if i == last {
			reply = call.subject(0)
		}
		if err := r.publish(o, reply); err != nil {
			return err
		}
		const checkEvery = 256
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (r *reader) publish(o *op, reply string) error {
	if reply == "" {
		return r.nc.Publish(o.subject, o.body)
	}
	return r.nc.PublishRequest(o.subject, reply, o.body)
}

// await returns nil when all replies are there, else why they are not; over says
// that the writing goroutine has ended.
func (r *reader) await(ctx context.Context, call *confirmation, written <-chan error) (over bool, err error) {
	timer := time.NewTimer(r.cfg.ConfirmWait)
	defer timer.Stop()
	select {
	case err = <-written:
		if over = true; err != nil {
			return over, err
		}
	case <-ctx.Done():
		return over, ctx.Err()
	case <-timer.C:
		return over, fmt.Errorf("the connection takes no bytes for %v", r.cfg.ConfirmWait)
	}
	select {
	case <-call.done:
		return over, nil
	case <-ctx.Done():
		return over, ctx.Err()
	case <-r.closed:
		return over, errClosed
	case <-timer.C:
		return over, fmt.Errorf("no confirmation for %v", r.cfg.ConfirmWait)
	}
}

var errClosed = fault.Errorf(fault.Closed, "the reader is closed")

// cannotSend says why nothing should be written now: what is written while
// reconnecting would be sent later, when nobody waits for it.
func (r *reader) cannotSend() error {
	select {
	case <-r.closed:
		return errClosed
	default:
	}
	r.mu.Lock()
	down := r.mu.pulls.down
	r.mu.Unlock()
	if down {
		return errDisconnected
	}
	return nil
}

func lastSound(ops []op) int {
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].err == nil {
			return i
		}
	}
	return -1
}

func setErrors(ops []op, err error) {
	for i := range ops {
		if ops[i].err == nil {
			ops[i].err = err
		}
	}
}

// opsPool keeps the memory of settled calls.
type opsPool struct{ pool sync.Pool }

func (p *opsPool) get(n int) []op {
	if v, ok := p.pool.Get().(*[]op); ok && cap(*v) >= n {
		return (*v)[:n]
	}
	return make([]op, n)
}

func (p *opsPool) put(ops []op) {
	clear(ops)
	p.pool.Put(&ops)
}
