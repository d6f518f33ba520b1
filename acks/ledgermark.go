package acks

import "slices"

// Prefix is the highest position of ch up to which everything is read or
// committed, and whether a watermark may follow it: not before everything that was
// outstanding at the start and is not committed has come again. A blocked delivery
// holds the prefix. A rejected one does not until it comes again, since the broker
// may never bring it. An abort takes the prefix back.
func (l *Ledger[P]) Prefix(ch Channel) (pos Position, resolved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.mu.book.channel(ch); c != nil {
		return c.prefix(l.mu.book.mode)
	}
	return 0, false
}

// Resolve takes the broker's evidence that nothing from before the start is
// outstanding any more.
func (l *Ledger[P]) Resolve(ch Channel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.mu.book.channel(ch); c != nil {
		c.resolve()
		l.mu.book.floorMoved(c)
	}
}

// Forget takes the broker's word that it will never deliver pos again (a message
// that was deleted, or had its last attempt). Without it a position that was
// rejected and never came again stays a hole of the mark for ever.
func (l *Ledger[P]) Forget(ch Channel, pos Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.mu.book.channel(ch); c != nil {
		c.forget(pos)
		l.mu.book.floorMoved(c)
	}
}

// Mark is what of ch is committed once all epochs up to epoch are: it belongs into
// their commit. That of a closed channel is what was committed by then, that of an
// unknown one commits nothing.
func (l *Ledger[P]) Mark(ch Channel, epoch uint64) Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.mu.book.known(ch)
	switch {
	case c == nil:
		return Mark{}
	case c.closed:
		m := c.known.public()
		m.Holes, m.Ahead = slices.Clone(m.Holes), slices.Clone(m.Ahead)
		return m
	case c.regular():
		return Mark{Floor: c.regularFloor(epoch)}
	}
	return c.mark(epoch, nil, nil).public()
}
