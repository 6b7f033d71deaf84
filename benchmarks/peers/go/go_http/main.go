// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// `go_http PORT [ct | mt WORKERS]` answers `GET /` like //examples/http_hello, with net/http.
package main

import (
	"io"
	"net/http"

	"rouse/benchmarks/peers/go/serve"
)

func hello(answer http.ResponseWriter, _ *http.Request) {
	answer.Header().Set("Content-Type", "text/plain")
	// The only possible error is that the client has closed the connection.
	_, _ = io.WriteString(answer, "hello\n")
}

func main() {
	serve.Fail(http.Serve(serve.Listen(), http.HandlerFunc(hello)))
}
