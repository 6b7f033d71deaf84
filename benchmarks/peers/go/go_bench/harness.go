// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is one run of one workload.
type bench struct {
	workload string
	workers  int
	seconds  float64
}

// fromCommandLine returns false if the command line or BENCH_SECS is malformed.
func fromCommandLine() (bench, bool) {
	b := bench{workers: 2, seconds: 1}
	if len(os.Args) < 2 || len(os.Args) > 3 {
		return b, false
	}
	b.workload = os.Args[1]
	var err error
	if len(os.Args) == 3 {
		if b.workers, err = strconv.Atoi(os.Args[2]); err != nil || b.workers < 1 {
			return b, false
		}
	}
	if seconds, isSet := os.LookupEnv("BENCH_SECS"); isSet {
		if b.seconds, err = strconv.ParseFloat(seconds, 64); err != nil {
			return b, false
		}
	}
	return b, true
}

// isCurrentThread returns whether one thread at a time runs goroutines: in the workloads named
// `ct_...` or `..._ct`, and in those that all programs run on the current-thread scheduler.
func (b bench) isCurrentThread() bool {
	switch b.workload {
	case "notify_permit", "mutex_uncontended", "semaphore_uncontended", "oneshot_ready":
		return true
	}
	return strings.HasPrefix(b.workload, "ct_") || strings.HasSuffix(b.workload, "_ct")
}

// measure warms up, repeats `iteration` for the time of the run and at least three times, and prints
// the median time of an operation.
func (b bench) measure(operations int, iteration func()) {
	warmUp := time.Now()
	for time.Since(warmUp).Seconds() < 0.3*b.seconds {
		iteration()
	}
	var seconds []float64
	start := time.Now()
	for len(seconds) < 3 || time.Since(start).Seconds() < b.seconds {
		begin := time.Now()
		iteration()
		seconds = append(seconds, time.Since(begin).Seconds())
	}
	sort.Float64s(seconds)
	median := seconds[len(seconds)/2]
	fmt.Printf("%s %.1f ns/op\n", b.workload, median*1e9/float64(operations))
}

// report prints one line of a workload that has several figures.
func (b bench) report(metric string, value float64, unit string) {
	fmt.Printf("%s:%s %.3f %s\n", b.workload, metric, value, unit)
}

// statusBytes returns a field of /proc/self/status, such as "VmRSS:", in bytes.
func statusBytes(field string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == field {
			kibibytes, err := strconv.ParseFloat(words[1], 64)
			if err != nil {
				panic(err)
			}
			return kibibytes * 1024
		}
	}
	panic("/proc/self/status has no field " + field)
}

// cpuSeconds returns the user and system time of the process.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// sink receives the results of computations, so that the compiler does not remove the computations.
var sink int

// xorShift is the pseudo-random sequence of all programs.
type xorShift uint64

func newXorShift() xorShift {
	return 88172645463325252
}

func (x *xorShift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}
