package drive

import (
	"runtime"
	"sync"
	"time"

	"github.com/gosluice/sluice/internal/engine"
)

// regionLoop steps one region.
type regionLoop struct {
	driver *Driver
	region *engine.Region
	wake   chan struct{}
	over   bool
}

func (l *regionLoop) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// ended is called within a step.
func (l *regionLoop) ended(err error) {
	l.over = true
	l.driver.regionEnded(err)
}

func (l *regionLoop) run() {
	w := waiter{wake: l.wake}
	defer w.stop()
	for {
		next := l.region.Step(time.Now())
		if l.over {
			return
		}
		w.wait(next, nil)
	}
}

// taskLoop steps one task until it is told to stop.
type taskLoop struct {
	task *engine.Task
	wake chan struct{}
	quit chan struct{}
	over sync.WaitGroup
}

// yieldAfter is how long a busy task runs before it lets others have the processor:
// with all processors busy an ack would else wait for a time slice.
const yieldAfter = 100 * time.Microsecond

func (l *taskLoop) run() {
	w := waiter{wake: l.wake}
	defer w.stop()
	yielded := time.Now()
	for {
		now := time.Now()
		p := l.task.Step(now)
		if !p.Again {
			if !w.wait(p.At, l.quit) {
				return
			}
			yielded = time.Now()
			continue
		}
		if now.Sub(yielded) > yieldAfter {
			select {
			case <-l.quit:
				return
			default:
			}
			runtime.Gosched()
			yielded = now
		}
	}
}

func (p ports) Start(tasks []*engine.Task) {
	for _, t := range tasks {
		l := &taskLoop{task: t, wake: make(chan struct{}, 1), quit: make(chan struct{})}
		wake := func() {
			select {
			case l.wake <- struct{}{}:
			default:
			}
		}
		t.SetDriver(l, wake)
	}
	for _, t := range tasks {
		l := t.Driver().(*taskLoop)
		l.over.Add(1)
		p.d.all.Go(func() {
			defer l.over.Done()
			l.run()
		})
	}
}

func (p ports) Halt(tasks []*engine.Task, done func()) {
	p.d.all.Go(func() {
		for _, t := range tasks {
			close(t.Driver().(*taskLoop).quit)
		}
		for _, t := range tasks {
			t.Driver().(*taskLoop).over.Wait()
		}
		done()
	})
}

// waiter waits for a wake, a time, or the end.
type waiter struct {
	wake  chan struct{}
	timer *time.Timer
}

// wait returns false when quit was closed. A zero time never comes.
func (w *waiter) wait(at time.Time, quit chan struct{}) bool {
	var due <-chan time.Time
	if !at.IsZero() {
		d := time.Until(at)
		if w.timer == nil {
			w.timer = time.NewTimer(d)
		} else {
			w.timer.Reset(d)
		}
		due = w.timer.C
	}
	select {
	case <-w.wake:
	case <-due:
	case <-quit:
		return false
	}
	return true
}

func (w *waiter) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
