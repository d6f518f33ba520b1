package store

import "fmt"

// Check tells whether c may follow epoch last of its region: it wraps [ErrEpoch]
// when c is not the next one, and refuses a delta that names no kind of rows.
// Stores call it before they change anything.
func (c *Commit) Check(last uint64) error {
	if c.Epoch != last+1 {
		return fmt.Errorf("%w: region %d is at epoch %d, the commit is for %d", ErrEpoch, c.Region, last, c.Epoch)
	}
	for i, d := range c.Deltas {
		if d == nil || d.Kind == 0 {
			return fmt.Errorf("delta %d of region %d, epoch %d names no kind of rows", i, c.Region, c.Epoch)
		}
	}
	return nil
}

// Size is the bytes of all deltas.
func (c *Commit) Size() int {
	n := 0
	for _, d := range c.Deltas {
		n += d.Size()
	}
	return n
}
