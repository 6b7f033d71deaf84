// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const (
	spawns        = 10_000
	yieldingTasks = 200
	yields        = 1_000
	pairs         = 1_000
	depth         = 1_000
)

// countDown counts tasks, and notifies `main` when the last task has ended.
type countDown struct {
	remaining atomic.Int64
	done      chan struct{}
}

func newCountDown(count int64) *countDown {
	c := &countDown{done: make(chan struct{}, 1)}
	c.remaining.Store(count)
	return c
}

func (c *countDown) count() {
	if c.remaining.Add(-1) == 0 {
		c.done <- struct{}{}
	}
}

func (c *countDown) spawn(count int) {
	for i := 0; i < count; i++ {
		go c.count()
	}
}

func spawnAndJoin(count int) {
	var tasks sync.WaitGroup
	tasks.Add(count)
	for i := 0; i < count; i++ {
		go tasks.Done()
	}
	tasks.Wait()
}

func yieldTimes(count int) {
	for i := 0; i < count; i++ {
		runtime.Gosched()
	}
}

// inTask runs `root` in a goroutine of its own, and waits for the end.
func inTask(root func()) {
	done := make(chan struct{}, 1)
	go func() {
		root()
		done <- struct{}{}
	}()
	<-done
}

// ping spawns a partner, and exchanges two signals with the partner.
func ping() {
	ping := make(chan struct{}, 1)
	pong := make(chan struct{}, 1)
	go func() {
		<-ping
		pong <- struct{}{}
	}()
	ping <- struct{}{}
	<-pong
}

func chain(end *countDown, left int) {
	if left == 0 {
		end.count()
	} else {
		go chain(end, left-1)
	}
}

func computeUntil(isOver func() bool) {
	for !isOver() {
	}
}

func computeFor(duration time.Duration) {
	start := time.Now()
	computeUntil(func() bool { return time.Since(start) >= duration })
}

// stuckRound is a round of `stuck_spawner`. Times are since `start`; 0 if not yet known.
type stuckRound struct {
	start                     time.Time
	otherIsBusy, hasSpawned   atomic.Bool
	otherIsFree, firstBeganAt atomic.Int64
}

func (r *stuckRound) now() int64 {
	return int64(time.Since(r.start))
}

func (r *stuckRound) beBusyForAMillisecond() {
	r.otherIsBusy.Store(true)
	computeUntil(r.hasSpawned.Load)
	computeFor(time.Millisecond)
	r.otherIsFree.Store(r.now())
}

func (r *stuckRound) spawnAndComputeOn() {
	computeUntil(r.otherIsBusy.Load)
	var tasks sync.WaitGroup
	tasks.Add(3)
	for i := 0; i < 3; i++ {
		go func() {
			// The first task alone finds 0.
			r.firstBeganAt.CompareAndSwap(0, r.now())
			tasks.Done()
		}()
	}
	r.hasSpawned.Store(true)
	computeFor(9 * time.Millisecond)
	tasks.Wait()
}

// stuckSpawner measures how long the tasks of a task that computes wait for the other worker, which
// has been busy, and becomes free after 1 ms.
func stuckSpawner(b bench) {
	const rounds = 200
	var delays []float64
	for i := 0; i < rounds; i++ {
		round := &stuckRound{start: time.Now()}
		var tasks sync.WaitGroup
		tasks.Add(2)
		for _, task := range []func(){round.beBusyForAMillisecond, round.spawnAndComputeOn} {
			task := task
			go func() {
				task()
				tasks.Done()
			}()
		}
		tasks.Wait()
		delays = append(delays, float64(round.firstBeganAt.Load()-round.otherIsFree.Load())/1e3)
	}
	sort.Float64s(delays)
	b.report("p50", delays[rounds/2], "us")
	b.report("p99", delays[rounds-rounds/100-1], "us")
}

func runScheduler(b bench) bool {
	switch b.workload {
	case "spawn_many_local":
		b.measure(spawns, func() {
			tasks := newCountDown(spawns)
			tasks.spawn(spawns)
			<-tasks.done
		})
	case "spawn_many_worker":
		b.measure(spawns, func() {
			tasks := newCountDown(spawns)
			inTask(func() { tasks.spawn(spawns) })
			<-tasks.done
		})
	case "spawn_join_worker":
		b.measure(spawns, func() { inTask(func() { spawnAndJoin(spawns) }) })
	case "yield_many":
		b.measure(yieldingTasks*yields, func() {
			tasks := newCountDown(yieldingTasks)
			for i := 0; i < yieldingTasks; i++ {
				go func() {
					yieldTimes(yields)
					tasks.count()
				}()
			}
			<-tasks.done
		})
	case "ping_pong":
		b.measure(pairs, func() {
			tasks := newCountDown(pairs)
			go func() {
				for i := 0; i < pairs; i++ {
					go func() {
						ping()
						tasks.count()
					}()
				}
			}()
			<-tasks.done
		})
	case "chained_spawn":
		b.measure(depth, func() {
			end := newCountDown(1)
			go chain(end, depth)
			<-end.done
		})
	case "stuck_spawner":
		stuckSpawner(b)
	case "ct_spawn_local":
		b.measure(1_000, func() { spawnAndJoin(1_000) })
	case "ct_spawn_detached":
		b.measure(1_000, func() {
			tasks := newCountDown(1_000)
			tasks.spawn(1_000)
			<-tasks.done
		})
	case "ct_yield":
		b.measure(yieldingTasks*yields, func() {
			var tasks sync.WaitGroup
			tasks.Add(yieldingTasks)
			for i := 0; i < yieldingTasks; i++ {
				go func() {
					yieldTimes(yields)
					tasks.Done()
				}()
			}
			tasks.Wait()
		})
	case "ct_yield_single":
		b.measure(10_000, func() { inTask(func() { yieldTimes(10_000) }) })
	case "ct_ping_pong":
		b.measure(pairs, func() {
			var tasks sync.WaitGroup
			tasks.Add(pairs)
			for i := 0; i < pairs; i++ {
				go func() {
					ping()
					tasks.Done()
				}()
			}
			tasks.Wait()
		})
	default:
		return false
	}
	return true
}
