// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Package serve has the parts that the measured servers share: the command line
// `PROGRAM PORT [ct | mt WORKERS]`, and the listener.
//
// Go has a single scheduler. With `ct`, it runs goroutines on one thread at a time, which is also
// what `mt 1` means.
package serve

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
)

// Listen parses the command line, sets the number of threads that run goroutines, and listens on
// 127.0.0.1. Exits with a message if the command line is malformed or the port is in use.
func Listen() net.Listener {
	port, workers := parse(os.Args)
	runtime.GOMAXPROCS(workers)
	// The listener's queue has the length that the system allows.
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		Fail(err)
	}
	return listener
}

// Connections serves until the process is killed, with a goroutine of `connection` for each
// connection. net.Listener sets TCP_NODELAY.
func Connections(connection func(net.Conn)) {
	listener := Listen()
	for {
		accepted, err := listener.Accept()
		if err != nil {
			Fail(err)
		}
		go func() {
			connection(accepted)
			accepted.Close()
		}()
	}
}

// Fail prints why the server ends, and ends the program.
func Fail(err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
	os.Exit(1)
}

func parse(args []string) (port uint16, workers int) {
	if len(args) < 2 || len(args) > 4 {
		usage()
	}
	number, err := strconv.ParseUint(args[1], 10, 16)
	if err != nil {
		usage()
	}
	workers = 1
	if len(args) > 2 && args[2] != "ct" && args[2] != "mt" {
		usage()
	}
	if len(args) > 3 {
		workers, err = strconv.Atoi(args[3])
		if err != nil || workers < 1 || args[2] == "ct" {
			usage()
		}
	}
	return uint16(number), workers
}

func usage() {
	fmt.Fprintf(os.Stderr, "usage: %s PORT [ct | mt WORKERS]\n", os.Args[0])
	os.Exit(2)
}
