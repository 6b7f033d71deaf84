// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// `go_bench WORKLOAD [WORKERS]` has the workloads of ../../../rouse_bench.cc that have an equivalent in
// Go. A task is a goroutine. A sync.WaitGroup joins tasks; a channel joins tasks that have a result.
//
// Workers are the threads that run goroutines at once (GOMAXPROCS), so a workload of the
// current-thread scheduler has one. Go has no thread outside its scheduler: `main` is a goroutine.
// The workloads that measure such a thread, such as `spawn_many_remote_idle`, therefore do not exist
// here. `spawn_many_local` and `request_reply` measure `main`.
package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	b, ok := fromCommandLine()
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: go_bench WORKLOAD [WORKERS]")
		os.Exit(2)
	}
	if b.isCurrentThread() {
		runtime.GOMAXPROCS(1)
	} else {
		runtime.GOMAXPROCS(b.workers)
	}
	for _, run := range []func(bench) bool{
		runScheduler, runForkJoin, runChannels, runSync, runTimers, runMemory,
	} {
		if run(b) {
			return
		}
	}
	fmt.Fprintf(os.Stderr, "go_bench: no workload '%s'\n", b.workload)
	os.Exit(2)
}
