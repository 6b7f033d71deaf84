// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The echoing connection, of which `rouse_echo` measures the time and
// instructions/core_paths.cc the instructions.

#ifndef ROUSE_BENCHMARKS_ECHO_H_
#define ROUSE_BENCHMARKS_ECHO_H_

#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace rouse::bench {

// Sends back what the client sends, until the client closes the connection or
// the connection fails. Like the peers' servers, has a buffer of 1 KiB.
Co<> Echo(TcpStream stream);

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_ECHO_H_
