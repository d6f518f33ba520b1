package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
)

// How far the inputs of a stage had come at its last commit, the minimum over its
// workers, is kept with that commit: tasks that are built again start from there.
// Else what is late would pass as on time between a restart and the moment when all
// sources have told their watermarks again, and a window that was closed would open
// a second time.
//
// As for sources (architecture, 9), what the end of a source brings is not kept.

// inputsKey is the key of a stage's row.
var inputsKey = []byte("inputs")

// stageMarks are the watermarks of the inputs of stages, by their index in the
// region.
type stageMarks [][]event.Time

func (r *Region) marksSpace(s *Stage) store.Space {
	return store.Space{Region: r.spec.ID, Kind: store.Mark, Transform: s.Transform}
}

// loadMarks reads what an earlier run committed.
func (r *Region) loadMarks() (stageMarks, error) {
	marks := make(stageMarks, len(r.spec.Stages))
	if r.store == nil {
		return marks, nil
	}
	for i, s := range r.spec.Stages {
		if s.Source != nil {
			continue
		}
		rows := store.Range{Space: r.marksSpace(s), From: inputsKey, Below: append(slices.Clone(inputsKey), 0)}
		err := r.store.Scan(rows, func(row store.Row) bool {
			if len(row.Value) == 8*s.Inputs { // else the graph has changed
				for at := 0; at < len(row.Value); at += 8 {
					marks[i] = append(marks[i], event.Time(binary.BigEndian.Uint64(row.Value[at:])))
				}
			}
			return false
		})
		if err != nil {
			return nil, fmt.Errorf("watermarks of %s: %w", s.Name, err)
		}
	}
	return marks, nil
}

// nextMarks are the marks once the reports are committed.
func (r *Region) nextMarks(reports []*Report) stageMarks {
	if slices.ContainsFunc(r.readers, func(rd *reader) bool { return rd.ended.Load() }) {
		return r.marks
	}
	next := make(stageMarks, len(r.spec.Stages))
	for i, s := range r.spec.Stages {
		if s.Source != nil {
			continue
		}
		for _, rep := range reports {
			switch {
			case rep.Task.Stage != s:
			case next[i] == nil:
				next[i] = rep.Inputs
			default:
				for in, wm := range rep.Inputs {
					next[i][in] = min(next[i][in], wm)
				}
			}
		}
	}
	return next
}

// marksDeltas are the rows that change from the current marks to next.
func (r *Region) marksDeltas(next stageMarks) (deltas []*store.Delta) {
	for i, s := range r.spec.Stages {
		if len(next[i]) == 0 || slices.Equal(next[i], r.marks[i]) {
			continue
		}
		value := make([]byte, 0, 8*len(next[i]))
		for _, wm := range next[i] {
			value = binary.BigEndian.AppendUint64(value, uint64(wm))
		}
		d := store.NewDelta(r.marksSpace(s))
		d.Put(0, inputsKey, value)
		deltas = append(deltas, d)
	}
	return deltas
}

// marksOf are the marks that tasks of s start from.
func (r *Region) marksOf(s *Stage) []event.Time {
	return r.marks[slices.Index(r.spec.Stages, s)]
}

// resume tells the head how far its inputs were.
func (t *Task) resume() error {
	for i, wm := range t.in.marks {
		if wm > event.Min {
			if err := t.head.Watermark(i, wm); err != nil {
				return err
			}
		}
	}
	return nil
}
