// Package sim answers the question "does it hold in every order of events, and
// when things break?". Its main noun is [World]: one goroutine in which a program
// runs on a virtual clock, and a random source that picks, again and again, the
// next thing to happen: a step of a task or a region, a call that begins or comes
// back, a commit that is applied or confirmed, a delivery of the broker, a fault.
//
// The life of a world: a process is started on what the store holds; it runs until
// it ends, is stopped, or crashes; after a crash another one is started on what
// survived; after every event the checks are asked; the run is over when the
// process has ended and the configuration says that nothing is left to do.
//
// Invariants:
//  1. Same seed and configuration, same run: nothing depends on the wall clock, on
//     goroutines or on the order of a map. Trace.Hash tells two runs apart.
//  2. A process that crashed never steps again. Of its calls that had not come
//     back, any may have happened or not; of its commits, too.
//  3. A run ends: there is a limit on events, and one in which nothing can happen
//     any more fails at once, with what every task waits for.
//
// It owns no goroutines. What it does not simulate: two threads inside one step,
// that is for the race detector on the goroutine driver.
package sim
