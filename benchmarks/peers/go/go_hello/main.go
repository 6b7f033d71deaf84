// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// `go_hello` does what //examples/hello does: two tasks, a timer, a deadline. Only the size of the
// program is measured.
package main

import (
	"context"
	"fmt"
	"time"
)

func fetch(what string, takes time.Duration) <-chan string {
	fetched := make(chan string, 1)
	go func() {
		time.Sleep(takes)
		fetched <- "the " + what
	}()
	return fetched
}

func main() {
	slow := fetch("news", 20*time.Millisecond)
	fast := fetch("weather", 10*time.Millisecond)
	weather := <-fast
	news := <-slow
	fmt.Printf("%s, then %s\n", weather, news)
	deadline, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	<-deadline.Done()
	fmt.Printf("and the rest: %v\n", deadline.Err())
}
