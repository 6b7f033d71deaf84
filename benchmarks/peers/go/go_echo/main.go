// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// `go_echo PORT [ct | mt WORKERS]` serves like ../../../rouse_echo.cc, with a goroutine and a buffer
// of 1 KiB for each connection.
package main

import (
	"net"

	"rouse/benchmarks/peers/go/serve"
)

func echo(connection net.Conn) {
	var buffer [1024]byte
	for {
		size, err := connection.Read(buffer[:])
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:size]); err != nil {
			return
		}
	}
}

func main() {
	serve.Connections(echo)
}
