// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts that the measured servers share: the command line
// `PROGRAM PORT [ct | mt WORKERS]`, and the loop that accepts connections.

#ifndef ROUSE_BENCHMARKS_SERVER_H_
#define ROUSE_BENCHMARKS_SERVER_H_

#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace rouse::bench {

// Serves on 127.0.0.1 until the process is killed, with a task of `connection`
// for each connection. On failure, prints the reason and returns the exit
// status.
int RunServer(int argc, char** argv, Co<> (*connection)(TcpStream stream));

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_SERVER_H_
