package acks

// deque holds deliveries in position order. Appending, taking from the front and
// finding what is asked for in order cost a few nanoseconds; anything else is a
// binary search, and putting in between moves the shorter side.
//
// A removed delivery leaves an empty slot until the front passes it or more than
// half of the slots are empty.
type deque[P any] struct {
	slots   []slot[P] // a ring, its length a power of two
	head, n int
	empty   int
	// from: every delivery below it is durable.
	from Position
	// next is where the next lookup is expected.
	next int
}

type slot[P any] struct {
	pos Position
	d   *delivery[P] // nil: removed
}

func (q *deque[P]) at(i int) *slot[P] { return &q.slots[(q.head+i)&(len(q.slots)-1)] }

// push appends d, whose position is above all others.
func (q *deque[P]) push(d *delivery[P]) {
	if q.n == len(q.slots) {
		q.grow()
	}
	pos := d.pos()
	q.from = min(q.from, pos)
	q.n++
	*q.at(q.n - 1) = slot[P]{pos, d}
}

func (q *deque[P]) grow() {
	slots := make([]slot[P], max(16, 2*q.n))
	for i := range q.n {
		slots[i] = *q.at(i)
	}
	q.slots, q.head = slots, 0
}

// insert puts d where it belongs.
func (q *deque[P]) insert(d *delivery[P]) {
	pos := d.pos()
	q.from = min(q.from, pos)
	i := q.search(pos)
	if i < q.n && q.at(i).pos == pos { // its empty slot is still there
		q.at(i).d = d
		q.empty--
		return
	}
	if q.n == len(q.slots) {
		q.grow()
	}
	q.n++
	if i < q.n/2 {
		q.head = (q.head - 1) & (len(q.slots) - 1)
		for k := range i {
			*q.at(k) = *q.at(k + 1)
		}
	} else {
		for k := q.n - 1; k > i; k-- {
			*q.at(k) = *q.at(k - 1)
		}
	}
	*q.at(i) = slot[P]{pos, d}
}

// search is the first index whose position is at least pos, n if there is none.
func (q *deque[P]) search(pos Position) int {
	low, high := 0, q.n
	for low < high {
		mid := int(uint(low+high) >> 1)
		if q.at(mid).pos < pos {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// index is where pos stands, -1 if it does not.
func (q *deque[P]) index(pos Position) int {
	if q.n == 0 || pos < q.at(0).pos {
		return -1
	}
	i := q.next
	switch {
	case q.at(0).pos == pos:
		return 0
	case i < q.n && q.at(i).pos == pos:
	default:
		// Channels without gaps: the distance is the index.
		i = int(min(pos-q.at(0).pos, Position(q.n-1)))
		if q.at(i).pos != pos {
			i = q.search(pos)
		}
	}
	if i == q.n || q.at(i).pos != pos {
		return -1
	}
	q.next = i + 1
	return i
}

// find is the delivery at pos, nil if it is not held.
func (q *deque[P]) find(pos Position) *delivery[P] {
	if i := q.index(pos); i >= 0 {
		return q.at(i).d
	}
	return nil
}

// remove empties the slot of d and says whether there was one.
func (q *deque[P]) remove(d *delivery[P]) bool {
	if q.n > 0 && q.at(0).d == d {
		q.trim()
	} else {
		i := q.index(d.pos())
		if i < 0 || q.at(i).d != d {
			return false
		}
		q.at(i).d = nil
		q.empty++
	}
	if q.empty > 32 && q.empty > q.n/2 {
		q.compact()
	}
	return true
}

// trim takes off the front and the empty slots behind it.
func (q *deque[P]) trim() {
	*q.at(0) = slot[P]{}
	for q.empty++; q.n > 0 && q.at(0).d == nil; q.n-- {
		q.head = (q.head + 1) & (len(q.slots) - 1)
		q.empty--
		q.next = max(0, q.next-1)
	}
}

func (q *deque[P]) compact() {
	kept := 0
	for i := range q.n {
		s := *q.at(i)
		*q.at(i) = slot[P]{}
		if s.d != nil {
			*q.at(kept) = s
			kept++
		}
	}
	q.n, q.empty, q.next = kept, 0, 0
}
