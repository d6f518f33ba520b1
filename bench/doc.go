// Command bench answers the question "what does the framework cost?": it compares
// pipelines with the plain program that does the same work, in the same run.
//
//	go run . [-rounds N] [-quick] [-lines FILE] [figure...]
//
// The life of a figure: its variants, the baseline twice among them, are run in
// turn, each round beginning with another; every run is a [sample] of a few
// metrics; what is compared are the pairs of one round, so that a machine that gets
// slower for a while slows both. A [row] holds the median, and beside it what the
// baseline differs from itself in the same rounds (the A/A spread): a difference
// inside that spread is none.
//
// Figures of CPU are user and system time of the process, not elapsed time: other
// load on the machine makes them worse but not meaningless. The broker is a process
// of its own, so that its cost is not the client's; both are reported.
//
// Goroutines: those of the pipelines and clients under test, and in latency.go one
// that publishes at a steady rate; each ends with its run.
package main
