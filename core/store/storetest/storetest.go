// Package storetest answers the question "does this store keep the contract?":
// a suite that any implementation of [store.Store] can run in its own tests. Its
// main noun is [Harness], which tells the suite how to get at a store.
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, storetest.Harness{
//			New: func(t *testing.T) store.Opener { return mystore.Dir(t.TempDir()) },
//		})
//	}
//
// The subtests are named after the numbered invariants of package store
// (Invariant1…Invariant6), after what records do to rows (Rows), and Model, which
// runs drawn sequences of calls against a map and shrinks what fails.
//
// Invariants:
//  1. Every store that a test opens is closed again, or crashed, when it ends.
//  2. No test waits for a length of time; what runs side by side is counted.
//
// The package owns no goroutines; those of a test end with it.
package storetest

import (
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// Harness is how the suite gets at a store.
type Harness struct {
	// New returns an opener on an empty place that nobody else uses. The suite
	// opens and closes it many times, never twice at once but to see it refused.
	New func(t *testing.T) store.Opener
	// Reopen returns an opener on the place of o as another process would make
	// it. It is called while o's store is closed. Nil: o itself.
	Reopen func(t *testing.T, o store.Opener) store.Opener
	// Crash stops the process that has s, opened by o, at once, with the power
	// cut where the store claims to stand that: s must not change the place any
	// more and is not used again. It returns an opener on what is left. Calls of s
	// may be running. Nil: the tests that crash are skipped.
	Crash func(t *testing.T, o store.Opener, s store.Store) store.Opener
	// Short leaves out what takes long where a sync or an opening does: large
	// values, many rows, and Model. Run the suite without it at least on a fast disk.
	Short bool
}

// Run runs the suite, one subtest for each rule.
func Run(t *testing.T, h Harness) {
	if h.Reopen == nil {
		h.Reopen = func(_ *testing.T, o store.Opener) store.Opener { return o }
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"Invariant1Atomic", testAtomic},
		{"Invariant2Synced", testSynced},
		{"Invariant3InOrder", testInOrder},
		{"Invariant4Scans", testScans},
		{"Invariant5MergesKept", testMerges},
		{"Invariant6OneProcess", testOneProcess},
		{"Rows", testRows},
		{"Manifest", testManifest},
		{"Closed", testClosed},
		{"Model", testModel},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
}
