// Package coretest tests pipelines: a script of elements, watermarks and processing
// time, and what must have come out after each step. Its main noun is [Case]: one
// pipeline with its script.
//
// The life of a case: [Run] calls the build function once per run; it makes the
// pipeline on streams of the case and writes the script with [Stream.Add],
// [Stream.Watermark], [Stream.End], [Case.Advance] and [Output.Expect]; then the
// script is run, step by step, on the seeded driver (several seeds, with abandoned
// epochs on most of them, virtual time) and once on the goroutine driver.
//
// Invariants:
//  1. A step begins when all that the last one caused is committed.
//  2. Outputs count once their bundle is committed.
//  3. On the seeded driver "nothing more came" is exact; on the goroutine driver it
//     is checked by the steps that follow.
//
// Goroutines: those of the driver, until Run returns.
package coretest
