package main

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is the user and system time this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Metrics that figures share.
const (
	nsPerElement = "cpu ns/elem"
	allocsEach   = "allocs/elem"
	perSecond    = "elem/s"
)

// perElement measures f, which handles n elements.
func perElement(n int, f func() error) (sample, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	err := f()
	cpu, took := cpuTime()-cpu, time.Since(start)
	runtime.ReadMemStats(&after)
	return sample{
		nsPerElement: float64(cpu.Nanoseconds()) / float64(n),
		allocsEach:   float64(after.Mallocs-before.Mallocs) / float64(n),
		perSecond:    float64(n) / took.Seconds(),
	}, err
}
