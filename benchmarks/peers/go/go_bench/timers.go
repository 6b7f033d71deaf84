// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"
	"sync"
	"time"
)

const million = 1_000_000

// armAndStop makes and stops one timer after another, like timeouts that do not expire.
func armAndStop(count int) {
	random := newXorShift()
	for i := 0; i < count; i++ {
		time.NewTimer(time.Duration(1+random.next()%1_000) * time.Millisecond).Stop()
	}
}

// armManyAndStop makes a million timers of 1 to 61 s, and then stops all timers.
func armManyAndStop() {
	random := newXorShift()
	var timers []*time.Timer
	for i := 0; i < million; i++ {
		delay := time.Duration(1_000+random.next()%60_000) * time.Millisecond
		timers = append(timers, time.NewTimer(delay))
	}
	for _, timer := range timers {
		timer.Stop()
	}
}

func millionSleepers(b bench) {
	residentBefore := statusBytes("VmRSS:")
	start := time.Now()
	var spawned, finished float64
	inTask(func() {
		var tasks sync.WaitGroup
		tasks.Add(million)
		for i := 0; i < million; i++ {
			go func() {
				time.Sleep(2 * time.Second)
				tasks.Done()
			}()
		}
		spawned = time.Since(start).Seconds()
		tasks.Wait()
		finished = time.Since(start).Seconds()
	})
	b.report("wall", finished, "s")
	b.report("overhead_over_2s", (finished-2)*1e9/million, "ns/task")
	b.report("spawn_phase", spawned*1e9/million, "ns/task")
	// Otherwise some tasks ended before others were spawned, and never did a million exist.
	if spawned < 2 {
		b.report("rss_per_task", (statusBytes("VmHWM:")-residentBefore)/million, "bytes")
	}
	b.report("cpu", cpuSeconds()*1e9/million, "ns/task")
}

// lateness runs 100,000 tasks, with deadlines spread over one second, and reports how late the tasks
// are woken.
func lateness(b bench) {
	const count = 100_000
	late := make([]float64, count)
	inTask(func() {
		random := newXorShift()
		base := time.Now().Add(200 * time.Millisecond)
		var tasks sync.WaitGroup
		tasks.Add(count)
		for i := range late {
			deadline := base.Add(time.Duration(random.next()%1_000_000) * time.Microsecond)
			late := &late[i]
			go func() {
				time.Sleep(time.Until(deadline))
				*late = time.Since(deadline).Seconds() * 1e6
				tasks.Done()
			}()
		}
		tasks.Wait()
	})
	sort.Float64s(late)
	b.report("p50", late[count/2], "us")
	b.report("p99", late[count*99/100], "us")
	b.report("p999", late[count*999/1_000], "us")
	b.report("max", late[count-1], "us")
}

func runTimers(b bench) bool {
	switch b.workload {
	case "timer_1m_tasks", "timer_1m_tasks_ct":
		millionSleepers(b)
	case "timer_seq_cancel", "timer_seq_cancel_ct":
		b.measure(million, func() { inTask(func() { armAndStop(million) }) })
	// Two tasks at once, which shows the cost of state that the workers share.
	case "timer_seq_cancel_x2":
		b.measure(million, func() {
			var tasks sync.WaitGroup
			tasks.Add(2)
			for i := 0; i < 2; i++ {
				go func() {
					armAndStop(million / 2)
					tasks.Done()
				}()
			}
			tasks.Wait()
		})
	case "timer_bulk_cancel", "timer_bulk_cancel_ct":
		b.measure(million, func() { inTask(armManyAndStop) })
	case "timer_lateness", "timer_lateness_ct":
		lateness(b)
	default:
		return false
	}
	return true
}
