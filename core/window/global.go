package window

import "github.com/gosluice/sluice/core/event"

type global struct{}

// Global is the window function that puts everything into [GlobalWindow]; every
// main window maps to it (W5).
func Global() Fn { return global{} }

func (global) Assign(dst []Window, _ event.Time) []Window { return append(dst, GlobalWindow) }
func (global) MapSide(Window) (Window, error)             { return GlobalWindow, nil }
func (global) Merging() bool                              { return false }
func (global) Validate() error                            { return nil }
func (global) String() string                             { return "global" }
