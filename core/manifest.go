package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/plan"
)

// manifest is what a state directory knows of the pipeline that owns it: ids of
// transforms and regions, and in which form each transform keeps its rows.
type manifest struct {
	Pipeline   string
	Transforms map[string]transformEntry
	Regions    map[string]store.RegionID
	NextID     uint32
	changed    bool
}

type transformEntry struct {
	ID store.TransformID
	// Durable and Format as in plan.Node.
	Durable, Format string `json:",omitempty"`
}

// IncompatibleError is a pipeline that does not fit its state directory.
type IncompatibleError struct {
	Place    string
	Problems []error
}

func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("state in %s does not fit the pipeline:\n%v", e.Place, errors.Join(e.Problems...))
}

// Unwrap gives the problems to errors.Is and errors.As.
func (e *IncompatibleError) Unwrap() []error { return e.Problems }

// loadManifest reads the manifest of st and checks graph g against it. dropped are
// the transforms whose state may go.
func loadManifest(st store.Store, place string, g *plan.Graph, dropped []string) (*manifest, error) {
	m := &manifest{Pipeline: g.Name, Transforms: map[string]transformEntry{}, Regions: map[string]store.RegionID{}, NextID: 1}
	if st == nil {
		return m, nil
	}
	raw, err := st.Manifest()
	if err != nil {
		return nil, err
	}
	if raw == nil {
		m.changed = true
		return m, nil
	}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("%s: manifest: %w: %w", place, store.ErrDamaged, err)
	}
	if problems := m.compare(g, dropped); len(problems) > 0 {
		return nil, &IncompatibleError{Place: place, Problems: problems}
	}
	return m, nil
}

func (m *manifest) compare(g *plan.Graph, dropped []string) (problems []error) {
	if m.Pipeline != g.Name {
		return []error{fmt.Errorf("it belongs to pipeline %q, this is %q: use another directory", m.Pipeline, g.Name)}
	}
	now := map[string]*plan.Node{}
	for _, n := range g.Nodes {
		now[n.Name] = n
	}
	for _, name := range m.names() {
		old := m.Transforms[name]
		n := now[name]
		if old.Durable == "" || slices.Contains(dropped, name) {
			continue
		}
		switch {
		case n == nil:
			problems = append(problems, fmt.Errorf("%s: keeps %s but is not in the pipeline any more: put it back, or give up what it kept with core.DropState(%q)", name, old.Durable, name))
		case n.Durable != old.Durable || n.Format != old.Format:
			problems = append(problems, fmt.Errorf("%s: keeps %s as %q, the pipeline now has %s as %q: change it back, or give up what it kept with core.DropState(%q)", name, old.Durable, old.Format, n.Durable, n.Format, name))
		}
	}
	return problems
}

func (m *manifest) names() []string {
	names := make([]string, 0, len(m.Transforms))
	for name := range m.Transforms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// drop forgets transforms: their ids are never used again, so their rows are not
// read. It must come before ids are allotted.
func (m *manifest) drop(names []string) {
	for _, name := range names {
		if _, ok := m.Transforms[name]; ok {
			delete(m.Transforms, name)
			m.changed = true
		}
	}
}

// transform allots the id of n.
func (m *manifest) transform(n *plan.Node) store.TransformID {
	e, ok := m.Transforms[n.Name]
	if !ok {
		e.ID = store.TransformID(m.NextID)
		m.NextID++
	}
	if !ok || e.Durable != n.Durable || e.Format != n.Format {
		e.Durable, e.Format, m.changed = n.Durable, n.Format, true
		m.Transforms[n.Name] = e
	}
	return e.ID
}

// region allots the id of a region.
func (m *manifest) region(name string) store.RegionID {
	id, ok := m.Regions[name]
	if !ok {
		id = store.RegionID(m.NextID)
		m.NextID++
		m.Regions[name], m.changed = id, true
	}
	return id
}

// save writes the manifest if it changed.
func (m *manifest) save(st store.Store) error {
	if st == nil || !m.changed {
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return st.SetManifest(raw)
}
