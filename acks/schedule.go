package acks

import (
	"container/heap"
	"time"
)

// moment is a callback's place in a schedule.
type moment struct {
	at time.Time
	c  *callback
	// place is the index plus one, zero outside.
	place int
}

// schedule is a heap of moments, the earliest in front.
type schedule []*moment

// Len is part of heap.Interface.
func (s schedule) Len() int { return len(s) }

// Less is part of heap.Interface.
func (s schedule) Less(i, j int) bool { return s[i].at.Before(s[j].at) }

// Swap is part of heap.Interface.
func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i+1, j+1
}

// Push is part of heap.Interface.
func (s *schedule) Push(x any) {
	m := x.(*moment)
	*s = append(*s, m)
	m.place = len(*s)
}

// Pop is part of heap.Interface.
func (s *schedule) Pop() any {
	last := len(*s) - 1
	m := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	m.place = 0
	return m
}

func (s *schedule) remove(m *moment) {
	if m.place > 0 {
		heap.Remove(s, m.place-1)
	}
}

// next is the first moment, zero if there is none.
func (s schedule) next() time.Time {
	if len(s) == 0 {
		return time.Time{}
	}
	return s[0].at
}
