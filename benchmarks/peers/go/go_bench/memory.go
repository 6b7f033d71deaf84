// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// objects is a multiple of the number of tasks that are spawned at once.
const objects = 200_000

// measureChannels makes many empty channels, and reports the resident memory of each. The elements of
// the slice do not count, because their pages are resident before the first channel is made.
func measureChannels(b bench, capacity int) {
	made := make([]chan uint64, objects)
	for i := range made {
		made[i] = nil
	}
	before := statusBytes("VmRSS:")
	for i := range made {
		made[i] = make(chan uint64, capacity)
	}
	b.report("memory", (statusBytes("VmRSS:")-before)/objects, "bytes")
	runtime.KeepAlive(made)
}

// measureTasks makes many tasks, and reports the resident memory of each when all wait. Few tasks are
// in the run queue at once, because its memory does not count.
func measureTasks(b bench) {
	const atOnce = 1_000
	var waiting atomic.Int64
	var tasks sync.WaitGroup
	tasks.Add(objects)
	notified := make(chan struct{})
	before := statusBytes("VmRSS:")
	for i := int64(1); i <= objects; i++ {
		go func() {
			waiting.Add(1)
			<-notified
			tasks.Done()
		}()
		for i%atOnce == 0 && waiting.Load() < i {
			runtime.Gosched()
		}
	}
	b.report("memory", (statusBytes("VmRSS:")-before)/objects, "bytes")
	close(notified)
	tasks.Wait()
}

// runMemory has no `memory_coroutine`, because a goroutine is in the run queue from the start, and no
// unbounded channel.
func runMemory(b bench) bool {
	switch b.workload {
	case "memory_task_ct":
		measureTasks(b)
	case "memory_oneshot":
		measureChannels(b, 1)
	case "memory_bounded100":
		measureChannels(b, 100)
	default:
		return false
	}
	return true
}
