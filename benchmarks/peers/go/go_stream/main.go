// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// `go_stream PORT [ct | mt WORKERS]` serves like ../../../rouse_stream.cc, with a goroutine for each
// connection.
package main

import (
	"net"

	"rouse/benchmarks/peers/go/serve"
)

const block = 64 * 1024

var zeros [block]byte

func source(connection net.Conn) {
	for {
		if _, err := connection.Write(zeros[:]); err != nil {
			return
		}
	}
}

func sink(connection net.Conn) {
	buffer := make([]byte, block)
	for {
		if _, err := connection.Read(buffer); err != nil {
			return
		}
	}
}

func serveOne(connection net.Conn) {
	mode := make([]byte, 1)
	if _, err := connection.Read(mode); err != nil {
		return
	}
	switch mode[0] {
	case 's':
		source(connection)
	case 'r':
		sink(connection)
	case 'e':
		// The only possible error is that the client has closed the connection.
		_, _ = connection.Write(mode)
	}
}

func main() {
	serve.Connections(serveOne)
}
