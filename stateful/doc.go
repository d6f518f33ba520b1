// Package stateful answers the question "what has been seen before, under this key
// and in this window?". It holds the transforms that keep something between
// elements: [ParDo] with cells and timers, [CombinePerKey] and [CombineGlobally],
// [Distinct].
//
// The main noun of ParDo is the cell: one typed piece of state, declared where the
// DoFn is ([Value], [Bag], [Combining]), of which every key and window has its own
// (S1). A timer is a cell that calls back ([EventTimer], [EventTimerFamily]).
//
// The life of a cell's content: the keyed exchange brings all elements of a key to
// one worker; the worker looks up the entry of (key, window) and has the cells show
// it for the time of the call (scope); what the call changes is noted, so that it
// can be undone when the call fails and written when the bundle ends (change); at
// the bundle's end every row that changed goes into the delta, and becomes durable
// with the outputs and the timers of the epoch; the next run reads the rows back
// before its first element. When the watermark is past gc(W), OnWindowExpiration
// has the last word and the rows of the window go, in one range per key group.
//
// Invariants:
//  1. A call's changes to cells and timers take effect together or not at all (S10).
//     Timers change when the call has succeeded, cells at once.
//  2. What a read returned never changes, and changing it changes no cell (S6).
//  3. Of the timers of a worker the earliest fires first, whenever it was set (T6,
//     T7); those of one time fire in the order of window, key, name and tag, which a
//     restart does not change.
//  4. A window is collected after its last timer has fired (T25), and no element of
//     it is taken from then on (X11).
//  5. The output watermark stays at or before the output timestamp of every timer
//     that is set (T18) and, where there is an OnWindowExpiration, the end of every
//     window that is kept (X15).
//
// A row of ParDo is one cell or timer: its key is the window, the key, the cell's
// name and, of a timer family, the tag; all state of a worker's keys is in memory.
//
// What a DoFn must not do: keep cells, contexts or elements beyond the call, share
// them with goroutines, or use them in StartBundle and FinishBundle, which belong
// to no key.
//
// The package owns no goroutines; DoFns run in the worker's step.
package stateful
