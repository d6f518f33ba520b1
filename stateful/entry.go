package stateful

import "github.com/gosluice/sluice/core/store"

// entry is what one worker keeps of one key in one window: a slot per declared cell.
type entry struct {
	encoded string
	group   store.Group
	pane    *pane[entry]
	slots   []slot
	// seen is the row that says that the key was there, where OnWindowExpiration
	// needs to know.
	seen seenRow
}

// slot is what a cell keeps for one entry; nil until the cell is used.
type slot interface {
	// vacant: there is nothing worth keeping.
	vacant() bool
}

// vacant says that dropping e would not be noticed.
func (e *entry) vacant() bool {
	for _, s := range e.slots {
		if s != nil && !s.vacant() {
			return false
		}
	}
	return true
}

// collected: its window is gone.
func (e *entry) collected() bool { return e.pane.byKey == nil }

// change is a piece of state that a call may change and the epoch's end writes: one
// row at most.
type change interface {
	// undo takes back what the call did.
	undo()
	// check says why what the call did cannot be kept.
	check() error
	// keep makes what the call did count.
	keep()
	// save brings the row up to date.
	save(r *rows) error
	tracked() *track
}

// track is what every change keeps of its calls and its row.
type track struct {
	entry *entry
	// call is the last one that changed it.
	call uint64
	// dirty: its row is out of date. stored: it has a row.
	dirty, stored bool
}

func (t *track) tracked() *track { return t }
