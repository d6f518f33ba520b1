package acks

import "sort"

// sweep computes what of a channel is committed once all epochs up to one are.
//
// The simple version: the floor is the highest position committed, and what is
// held below it and not committed is a hole. Two things make it harder. Rejected
// deliveries are forgotten before they come again, so their holes are kept in
// known, above the floor as well. And while the channel is open the floor stays:
// what is committed beyond it goes into spans. Up to through every position stands
// for itself; beyond it first deliveries come in order, so a span also reaches
// over positions that hold nothing.
//
// The outline: one walk, in position order, over three increasing sequences at
// once: old holes, old spans, and held deliveries that are not durable.
type sweep[P any] struct {
	c     *channel[P]
	epoch uint64
	open  bool
	// floor is the new one; decided is the highest position that the epochs decided.
	floor, decided Position
	holes          []Position
	ahead          []Span
	// nextHole and nextSpan walk over those of c.known.
	nextHole, nextSpan int
	// obstacle is the highest position passed that is not committed.
	obstacle Position
}

// mark is the new known. Its slices begin with what is in holes and ahead, which
// must be empty.
func (c *channel[P]) mark(epoch uint64, holes []Position, ahead []Span) Mark {
	s := sweep[P]{c: c, epoch: epoch, open: c.open(), holes: holes, ahead: ahead}
	s.bounds()
	s.walk()
	return Mark{Floor: s.floor, Holes: s.holes, Ahead: s.ahead}
}

// bounds finds the floor and how far the walk must go.
func (s *sweep[P]) bounds() {
	decided, joined := s.c.main.decided(s.epoch)
	d, j := s.c.side.decided(s.epoch)
	s.decided = max(decided, d)
	s.floor = s.c.known.Floor
	if !s.open {
		s.floor = max(s.c.known.top(), joined, j)
	}
}

// decided is the highest position that the epochs up to epoch decided, and the
// highest that they committed; 0 for none. Only what is not durable yet counts.
func (q *deque[P]) decided(epoch uint64) (decided, joined Position) {
	for i := q.n - 1; i >= 0; i-- {
		s := q.at(i)
		if s.pos < q.from {
			break
		}
		if s.d == nil || s.d.state != read || s.d.epoch > epoch {
			continue
		}
		decided = max(decided, s.pos)
		if s.d.joins(epoch) {
			return decided, s.pos
		}
	}
	return decided, 0
}

func (s *sweep[P]) walk() {
	end := max(s.decided, s.floor, s.c.known.top())
	for it := s.c.notDurable(); ; {
		d := it.next()
		if d == nil || d.pos() > end {
			break
		}
		if !d.state.durable() {
			s.pass(d)
		}
	}
	s.upTo(MaxPosition + 1)
}

// pass decides about one delivery.
func (s *sweep[P]) pass(d *delivery[P]) {
	pos := d.pos()
	s.upTo(pos)
	if s.nextHole < len(s.c.known.Holes) && s.c.known.Holes[s.nextHole] == pos {
		s.nextHole++ // decided anew
	}
	if d.joins(s.epoch) {
		s.join(Span{pos, pos})
		return
	}
	s.obstacle = pos
	rejected := d.state == read && d.epoch <= s.epoch && d.verdict.Action == Rejected
	if pos <= s.floor || rejected { // above it what is held needs no hole
		s.holes = append(s.holes, pos)
	}
}

// upTo passes the old holes and spans that begin below pos.
func (s *sweep[P]) upTo(pos Position) {
	old := &s.c.known
	for {
		hole, span := pos, pos
		if s.nextHole < len(old.Holes) {
			hole = old.Holes[s.nextHole]
		}
		if s.open && s.nextSpan < len(old.Ahead) {
			span = old.Ahead[s.nextSpan].First
		}
		switch {
		case hole >= pos && span >= pos:
			return
		case hole < span:
			s.holes, s.obstacle = append(s.holes, hole), hole
			s.nextHole++
		default:
			s.join(old.Ahead[s.nextSpan])
			s.nextSpan++
		}
	}
}

// join adds committed positions: to the floor if they touch it, else (the channel
// is open) to the spans.
func (s *sweep[P]) join(add Span) {
	if add.First <= s.floor+1 {
		s.floor = max(s.floor, add.Last)
		return
	}
	if n := len(s.ahead); n > 0 {
		last := &s.ahead[n-1]
		if add.First == last.Last+1 || last.Last >= s.c.through && s.obstacle < last.First {
			last.Last = add.Last
			return
		}
	}
	s.ahead = append(s.ahead, add)
}

// public is m without the holes above its floor.
func (m Mark) public() Mark {
	n := len(m.Holes)
	if n > 0 && m.Holes[n-1] > m.Floor {
		n = sort.Search(n, func(i int) bool { return m.Holes[i] > m.Floor })
	}
	m.Holes = m.Holes[:n:n]
	if n == 0 {
		m.Holes = nil
	}
	if len(m.Ahead) == 0 {
		m.Ahead = nil
	}
	return m
}
