// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

const messages = 200_000

func send(values chan<- int, count int) {
	for i := 0; i < count; i++ {
		values <- i
	}
}

// boundedPair has one task send 200,000 words to another task.
func boundedPair(capacity int) {
	values := make(chan int, capacity)
	var tasks sync.WaitGroup
	tasks.Add(2)
	go func() {
		send(values, messages)
		close(values)
		tasks.Done()
	}()
	go func() {
		sum := 0
		for value := range values {
			sum += value
		}
		sink = sum
		tasks.Done()
	}()
	tasks.Wait()
}

// boundedFive has five producers send to the task that calls it.
func boundedFive(capacity, each int) {
	values := make(chan int, capacity)
	for i := 0; i < 5; i++ {
		go send(values, each)
	}
	sum := 0
	for i := 0; i < 5*each; i++ {
		sum += <-values
	}
	sink = sum
}

// oneshotReady makes a channel with one place, sends, and then receives, without a task switch.
func oneshotReady(count int) {
	sum := 0
	for i := 0; i < count; i++ {
		oneshot := make(chan int, 1)
		oneshot <- i
		sum += <-oneshot
	}
	sink = sum
}

// requestReply has a client send requests over a channel with ten places, and receive each answer
// over a channel with one place. The client is `main`, or a task.
func requestReply(b bench) {
	const count = 1_000
	requests := make(chan chan<- bool, 10)
	go func() {
		for reply := range requests {
			reply <- true
		}
	}()
	ask := func() {
		for i := 0; i < count; i++ {
			reply := make(chan bool, 1)
			requests <- reply
			<-reply
		}
	}
	if b.workload == "request_reply_worker" {
		b.measure(count, func() { inTask(ask) })
	} else {
		b.measure(count, ask)
	}
}

// runChannels has no unbounded channels, broadcast or watch, which Go does not have, and no channel
// with a million places, all of which Go would allocate anew for 5,000 messages.
func runChannels(b bench) bool {
	switch b.workload {
	case "mpsc_bounded100_1p", "mpsc_bounded100_1p_ct":
		b.measure(messages, func() { boundedPair(100) })
	case "mpsc_bounded1000_1p", "mpsc_bounded1000_1p_ct":
		b.measure(messages, func() { boundedPair(1_000) })
	case "mpsc_bounded100_5p":
		b.measure(5_000, func() { boundedFive(100, 1_000) })
	case "mpsc_bounded1000_5p":
		b.measure(200_000, func() { inTask(func() { boundedFive(1_000, 40_000) }) })
	case "oneshot_ready":
		b.measure(100_000, func() { oneshotReady(100_000) })
	case "request_reply", "request_reply_ct", "request_reply_worker":
		requestReply(b)
	default:
		return false
	}
	return true
}
