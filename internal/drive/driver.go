// Package drive runs a program with goroutines: it owns every goroutine, the clock
// and the calls that block. Its main noun is [Driver].
//
// Goroutines:
//
//	name          started by     stopped by              touches
//	region loop   Start          the region's end        its Region's step
//	task loop     Region.Start   Region.Halt             its Task's step
//	call          Ports.Call     its own return          what the call carries
//	commit        Ports.Commit   its own return          the store
//	halt          Ports.Halt     the loops' end          nothing
//
// Calls get a context that ends when the driver has ended all its regions or is
// killed; Wait returns after the last of these goroutines has.
package drive

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// Config is what a driver needs besides the program.
type Config struct {
	// Store may be nil. The caller closes it after Wait.
	Store store.Store
	Log   *slog.Logger
}

// Driver runs the regions of one program.
type Driver struct {
	cfg     Config
	ctx     context.Context
	cancel  context.CancelFunc
	started time.Time
	loops   []*regionLoop
	regions []*engine.Region
	all     sync.WaitGroup
	done    chan struct{}
	mu      struct {
		sync.Mutex
		err  error
		left int
	}
}

// Start builds the regions and begins to run them.
func Start(p *engine.Program, cfg Config) (*Driver, error) {
	d := &Driver{cfg: cfg, started: time.Now(), done: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	for _, spec := range p.Regions {
		l := &regionLoop{driver: d, wake: make(chan struct{}, 1)}
		r, err := engine.NewRegion(engine.RegionConfig{
			Spec: spec, Store: cfg.Store, Ports: ports{d}, Log: cfg.Log, Context: d.ctx,
			Wake: l.signal, Done: l.ended,
		})
		if err != nil {
			d.cancel()
			return nil, err
		}
		l.region = r
		d.loops = append(d.loops, l)
		d.regions = append(d.regions, r)
	}
	d.mu.left = len(d.loops)
	for _, l := range d.loops {
		if err := l.region.Begin(); err != nil {
			d.fail(err)
			d.cancel()
			d.all.Wait()
			return nil, err
		}
	}
	for _, l := range d.loops {
		d.all.Go(l.run)
	}
	go d.await()
	return d, nil
}

// await closes Done after every goroutine has ended.
func (d *Driver) await() {
	d.all.Wait()
	close(d.done)
}

// Regions lists what runs, for views.
func (d *Driver) Regions() []*engine.Region { return d.regions }

// End asks every region to end. It returns at once.
func (d *Driver) End(mode engine.EndMode) {
	for _, r := range d.regions {
		r.End(mode)
	}
}

// Done is closed when the run has ended.
func (d *Driver) Done() <-chan struct{} { return d.done }

// Wait returns when the run has ended, with the first error of each region.
func (d *Driver) Wait() error {
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.err
}

func (d *Driver) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.err = errors.Join(d.mu.err, err)
}

// regionEnded ends the other regions when one has failed, and all calls when none
// is left.
func (d *Driver) regionEnded(err error) {
	d.mu.Lock()
	d.mu.left--
	left := d.mu.left
	d.mu.err = errors.Join(d.mu.err, err)
	d.mu.Unlock()
	if left == 0 {
		d.cancel()
	} else if err != nil {
		d.End(engine.Stop)
	}
}

// ports is what the engine asks of this driver.
type ports struct{ d *Driver }

func (p ports) Call(c engine.Call) {
	p.d.all.Go(func() {
		v, err := run(p.d.ctx, c)
		c.Complete(v, err)
	})
}

// run is the one place where calls are made, with recover.
func run(ctx context.Context, c engine.Call) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = engine.Recovered(r)
		}
	}()
	return c.Run(ctx)
}

func (p ports) Commit(c *store.Commit, done func(error)) {
	p.d.all.Go(func() { done(p.d.cfg.Store.Commit(context.WithoutCancel(p.d.ctx), c)) })
}

func (p ports) Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p ports) Elapsed() time.Duration { return time.Since(p.d.started) }
func (p ports) Jitter() float64        { return rand.Float64() }
