package engine

import (
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/store"
)

// Elements is a batch of typed elements. After a keyed exchange each has its
// encoded key and key group.
type Elements[T any] struct {
	Items []element.Element[T]
	// keys holds the encoded keys one after another; places[i] is where key i ends.
	keys   []byte
	places []keyPlace
}

type keyPlace struct {
	end   uint32
	group store.Group
}

// Len is the number of elements.
func (b *Elements[T]) Len() int { return len(b.Items) }

func (b *Elements[T]) reset() {
	clear(b.Items)
	b.Items, b.keys, b.places = b.Items[:0], b.keys[:0], b.places[:0]
}

// Key returns the encoded key and group of element i of a keyed batch. The slice
// is valid while the batch is.
func (b *Elements[T]) Key(i int) ([]byte, store.Group) {
	from := uint32(0)
	if i > 0 {
		from = b.places[i-1].end
	}
	p := b.places[i]
	return b.keys[from:p.end:p.end], p.group
}
