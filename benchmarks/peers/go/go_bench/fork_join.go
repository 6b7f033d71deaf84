// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// skynet sums [first, first + leaves) over a tree of tasks with ten children each, and sends the sum.
// The children's channel has a place for each child, so that no child waits.
func skynet(result chan<- uint64, first, leaves uint64) {
	if leaves == 1 {
		result <- first
		return
	}
	share := leaves / 10
	parts := make(chan uint64, 10)
	for i := uint64(0); i < 10; i++ {
		go skynet(parts, first+share*i, share)
	}
	sum := uint64(0)
	for i := 0; i < 10; i++ {
		sum += <-parts
	}
	result <- sum
}

// fibonacci computes naively: it spawns one branch, and calls itself for the other branch.
func fibonacci(n uint64) uint64 {
	if n < 2 {
		return n
	}
	forked := make(chan uint64, 1)
	go func() { forked <- fibonacci(n - 1) }()
	inPlace := fibonacci(n - 2)
	return <-forked + inPlace
}

func check(number, expected uint64) {
	if number != expected {
		panic(fmt.Sprintf("%d instead of %d", number, expected))
	}
}

func runForkJoin(b bench) bool {
	switch b.workload {
	case "skynet", "skynet_ct":
		b.measure(1_111_111, func() {
			result := make(chan uint64, 1)
			go skynet(result, 0, 1_000_000)
			check(<-result, 499_999_500_000)
		})
	case "fib30", "fib30_ct":
		b.measure(1_346_268, func() { inTask(func() { check(fibonacci(30), 832_040) }) })
	default:
		return false
	}
	return true
}
