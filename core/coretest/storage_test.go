package coretest_test

import (
	"fmt"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/store"
)

// markKey is where the watermark ends and the mark begins in a mark row.
const markKey = 8

// committedMark is what the store says of a channel of the source.
func (r *rig) committedMark(channel string) (mark acks.Mark, err error) {
	for _, region := range r.prog.Regions {
		for _, st := range region.Stages {
			if st.Source == nil {
				continue
			}
			rows := store.Range{
				Space: store.Space{Region: region.ID, Kind: store.Mark, Transform: st.Transform},
				From:  []byte(channel), Below: append([]byte(channel), 0),
			}
			err = r.store.Scan(rows, func(row store.Row) bool {
				mark, err = acks.ParseMark(row.Value[markKey:])
				return true
			})
		}
	}
	return mark, err
}

// leftovers lists rows that a drained pipeline must not keep.
func (r *rig) leftovers() error {
	for _, region := range r.prog.Regions {
		for _, st := range region.Stages {
			for _, kind := range []store.Kind{store.State, store.Held, store.Effect} {
				space := store.Space{Region: region.ID, Kind: kind, Transform: st.Transform}
				n := 0
				if err := r.store.Scan(space.All(), func(store.Row) bool { n++; return true }); err != nil {
					return err
				}
				if n > 0 {
					return fmt.Errorf("%d rows of kind %d are left of %s", n, kind, st.Name)
				}
			}
		}
	}
	return nil
}
