// Package gating answers the question "may this go on yet?". Its main noun is the
// gate that [WaitOn] puts into a pipeline: it holds the elements of a main
// collection back, window by window, until every signal has finished the window
// that corresponds to theirs.
//
// The life of a held element: it arrives while its window is closed; with the
// bundle it becomes a held row in the store and leaves memory; when the watermarks
// of all signals have passed the window, and that is committed, it is read back and
// sent on, and the row is deleted in the same epoch.
//
// Invariants:
//  1. Nothing is released before the watermark that allows it is committed: a
//     crash cannot take back what a release was based on.
//  2. The elements of signals do not matter, only their watermarks (W3).
//  3. The gate's output watermark stays behind every held element (W9).
//  4. Output is input: nothing is added, dropped, changed or regrouped (W1).
//
// The package owns no goroutines.
package gating
