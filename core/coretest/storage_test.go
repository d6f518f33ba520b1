package coretest_test

import (
	"bytes"
	"fmt"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// markBytes is where the watermark of a mark row ends and the mark begins.
const markBytes = 8

// spaces calls f for the rows of one kind of every stage.
func (r *rig) spaces(kind store.Kind, f func(st *engine.Stage, space store.Space)) {
	for _, region := range r.prog.Regions {
		for _, st := range region.Stages {
			f(st, store.Space{Region: region.ID, Kind: kind, Transform: st.Transform})
		}
	}
}

// committedMark is what the store says of a channel of a source.
func (r *rig) committedMark(name, channel string) (mark acks.Mark, err error) {
	r.spaces(store.Mark, func(st *engine.Stage, space store.Space) {
		if st.Source == nil || st.Name != name || err != nil {
			return
		}
		rows := store.Range{Space: space, From: []byte(channel), Below: append([]byte(channel), 0)}
		scanErr := r.store.Scan(rows, func(row store.Row) bool {
			mark, err = acks.ParseMark(row.Value[markBytes:])
			return true
		})
		if scanErr != nil {
			err = scanErr
		}
	})
	return mark, err
}

// pendingEffect says whether a committed row holds this token.
func (r *rig) pendingEffect(token []byte) (found bool) {
	r.spaces(store.Effect, func(_ *engine.Stage, space store.Space) {
		err := r.store.Scan(space.All(), func(row store.Row) bool {
			found = found || bytes.Contains(row.Value, token)
			return !found
		})
		if err != nil {
			r.w.Fail(err)
		}
	})
	return found
}

// leftovers: a drained pipeline keeps no rows.
func (r *rig) leftovers() (err error) {
	if r.db == nil {
		return nil
	}
	for _, kind := range []store.Kind{store.State, store.Held, store.Effect} {
		r.spaces(kind, func(st *engine.Stage, space store.Space) {
			n := 0
			scanErr := r.store.Scan(space.All(), func(store.Row) bool { n++; return true })
			switch {
			case scanErr != nil:
				err = scanErr
			case n > 0:
				err = fmt.Errorf("%d rows of kind %d are left of %s", n, kind, st.Name)
			}
		})
	}
	return err
}
