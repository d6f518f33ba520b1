package engine

import (
	"context"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
)

// Report is what a task hands over when its bundle is finished.
type Report struct {
	Task   *Task
	Epoch  uint64
	Deltas []*store.Delta
	// Finalizers were registered in the bundle, in order.
	Finalizers []Finalizer
	// Effects start after the commit; forgotten ones are consumed by it.
	Effects   []*effect
	Forgotten []effectKey
	// AtCommit runs in the region's step right after the commit, whatever became of
	// the task.
	AtCommit []func()
	// Inputs are the watermarks of the inputs.
	Inputs []event.Time
	// Done: the input is finished and nothing is kept.
	Done bool
	// Work is the time the report took to make.
	Work time.Duration
}

// Finalizer runs after the commit of the bundle that registered it.
type Finalizer struct {
	Name string
	// Expires is when it is given up, wall clock (X6).
	Expires time.Time
	Run     func(ctx context.Context) error
}

// AfterCommit registers f with the bundle being filled (F1, X12).
func (t *Task) AfterCommit(f Finalizer) {
	t.Touch()
	t.finalizers = append(t.finalizers, f)
}

// AtCommit has the region run f once the epoch that is being reported is durable,
// even if the task is gone by then.
func (t *Task) AtCommit(f func()) { t.atCommit = append(t.atCommit, f) }

// TaskStats are counts of one task since it was made.
type TaskStats struct {
	Now time.Time
}

// TaskView is how a task stands, for people.
type TaskView struct {
	Stage         string
	Worker        int
	In, Out, Hold event.Time
	// Keeps is what the head last said it keeps.
	Keeps int
}

// View may be called from anywhere.
func (t *Task) View() TaskView {
	return TaskView{
		Stage: t.Stage.Name, Worker: t.Index,
		In:   event.Time(t.view.in.Load()),
		Out:  event.Time(t.view.out.Load()),
		Hold: event.Time(t.view.hold.Load()), Keeps: int(t.view.keeps.Load()),
	}
}

// Keeps shows people how many windows, batches or the like the head keeps.
func (t *Task) Keeps(n int) { t.view.keeps.Store(int64(n)) }

// OnOpen has f called when the task opens, to load what was committed. It, OnStart,
// OnFinish, OnDelta and OnHold are how the transforms of a stage take part in its life;
// what they add runs in the order it was added.
func (t *Task) OnOpen(f func() error)                       { t.hooks.open = append(t.hooks.open, f) }
func (t *Task) OnStart(f func() error)                      { t.hooks.start = append(t.hooks.start, f) }
func (t *Task) OnFinish(f func() error)                     { t.hooks.finish = append(t.hooks.finish, f) }
func (t *Task) OnDelta(f func(epoch uint64) []*store.Delta) { t.hooks.delta = append(t.hooks.delta, f) }
func (t *Task) OnHold(f func() event.Time)                  { t.hooks.hold = append(t.hooks.hold, f) }

// NewSender makes the sending half of output edge number edge for this worker.
// key encodes the key of a Keyed edge.
func NewSender[T any](t *Task, edge int, key func(dst []byte, v *T) ([]byte, error)) *Sender[T] {
	queues := t.outs[edge].queues
	s := &Sender[T]{queues: queues, open: make([]*Elements[T], len(queues)), key: key, fail: t.Fail}
	t.flush0 = append(t.flush0, s)
	return s
}

// Call runs work elsewhere and complete in a later step of this task; if the task
// has been given up by then, orphan gets the result instead (nil: dropped).
func (t *Task) Call(kind CallKind, name string, run func(context.Context) (any, error), complete func(any, error), orphan func(any, error)) {
	ctx := t.ctx
	t.region.ports.Call(Call{
		Name: name, Kind: kind,
		Run: func(base context.Context) (any, error) {
			merged, cancel := context.WithCancel(base)
			defer cancel()
			if ctx.Err() != nil {
				cancel()
			} else {
				defer context.AfterFunc(ctx, cancel)()
			}
			return run(merged)
		},
		Complete: func(v any, err error) {
			if ctx.Err() != nil {
				if orphan != nil {
					orphan(v, err)
				}
				return
			}
			t.mail.post(func() { complete(v, err) })
		},
	})
}

// Store is the pipeline's store, nil where it has none.
func (t *Task) Store() store.Store { return t.region.store }

// StoreID is the store's identity, "volatile" where there is none.
func (t *Task) StoreID() string {
	if t.region.store == nil {
		return "volatile"
	}
	return t.region.store.ID()
}

// Space is where the stage's head keeps rows of one kind.
func (t *Task) Space(kind store.Kind) store.Space { return t.SpaceOf(kind, t.Stage.Transform) }

// SpaceOf is where a transform of the stage keeps rows of one kind.
func (t *Task) SpaceOf(kind store.Kind, id store.TransformID) store.Space {
	return store.Space{Region: t.region.spec.ID, Kind: kind, Transform: id}
}

// Groups is the range of key groups that this worker owns.
func (t *Task) Groups() (first, last store.Group) { return groupsOf(t.Index, t.Stage.Workers) }

// Load calls fn for the committed rows of this worker's groups.
func (t *Task) Load(kind store.Kind, fn func(store.Row) error) error {
	first, last := t.Groups()
	return t.load(store.Range{Space: t.Space(kind), First: first, Last: last}, fn)
}

// LoadAll calls fn for all committed rows of space.
func (t *Task) LoadAll(space store.Space, fn func(store.Row) error) error {
	return t.load(space.All(), fn)
}

func (t *Task) load(r store.Range, fn func(store.Row) error) error {
	if t.region.store == nil || r.First > r.Last {
		return nil
	}
	var failed error
	err := t.region.store.Scan(r, func(row store.Row) bool {
		failed = fn(row)
		return failed == nil
	})
	if err != nil {
		return err
	}
	return failed
}
