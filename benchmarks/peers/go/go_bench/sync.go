// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

const (
	repeats          = 100_000
	contenders       = 8
	contendedRepeats = 20_000
	roundTrips       = 20_000
)

// notify is a channel with one place, which keeps one permit. This is how Go notifies one task.
type notify chan struct{}

func (n notify) notifyOne() {
	select {
	case n <- struct{}{}:
	default:
	}
}

// notifyPair has two tasks wake each other in turn. An operation is a round trip.
func notifyPair() {
	ping, pong := make(notify, 1), make(notify, 1)
	var tasks sync.WaitGroup
	tasks.Add(2)
	go func() {
		for i := 0; i < roundTrips; i++ {
			<-ping
			pong.notifyOne()
		}
		tasks.Done()
	}()
	go func() {
		for i := 0; i < roundTrips; i++ {
			ping.notifyOne()
			<-pong
		}
		tasks.Done()
	}()
	tasks.Wait()
}

type counter struct {
	mutex sync.Mutex
	value uint64
}

func (c *counter) lockAndCount(count int) {
	for i := 0; i < count; i++ {
		c.mutex.Lock()
		c.value++
		c.mutex.Unlock()
	}
}

// semaphore is a channel with a place for each permit. Tasks that wait get permits in turn.
type semaphore chan struct{}

func (s semaphore) acquireAndRelease(count int) {
	for i := 0; i < count; i++ {
		s <- struct{}{}
		<-s
	}
}

// joinEight runs eight tasks of one kind, and joins the tasks.
func joinEight(task func()) {
	var tasks sync.WaitGroup
	tasks.Add(contenders)
	for i := 0; i < contenders; i++ {
		go func() {
			task()
			tasks.Done()
		}()
	}
	tasks.Wait()
}

// runSync has no `mutex_handoff`: a sync.Mutex lets the running task lock again while others wait, so
// that an unlock does not pass the lock to a task that waits.
func runSync(b bench) bool {
	const contended = contenders * contendedRepeats
	switch b.workload {
	case "notify_permit":
		permit := make(notify, 1)
		b.measure(repeats, func() {
			for i := 0; i < repeats; i++ {
				permit.notifyOne()
				<-permit
			}
		})
	case "notify_ping_pong", "notify_ping_pong_ct":
		b.measure(roundTrips, notifyPair)
	case "mutex_uncontended":
		var c counter
		b.measure(repeats, func() { c.lockAndCount(repeats) })
	case "mutex_contended":
		var c counter
		b.measure(contended, func() { joinEight(func() { c.lockAndCount(contendedRepeats) }) })
	case "semaphore_uncontended":
		s := make(semaphore, 10)
		b.measure(repeats, func() { s.acquireAndRelease(repeats) })
	case "semaphore_contended":
		s := make(semaphore, 2)
		b.measure(contended, func() { joinEight(func() { s.acquireAndRelease(contendedRepeats) }) })
	default:
		return false
	}
	return true
}
