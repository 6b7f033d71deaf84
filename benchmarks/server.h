// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the servers share that are measured beside the peers': the command line
// `PROGRAM PORT [ct | mt WORKERS]` and the loop that accepts.

#ifndef ROUSE_BENCHMARKS_SERVER_H_
#define ROUSE_BENCHMARKS_SERVER_H_

#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace rouse::bench {

// Serves on 127.0.0.1, a task of `connection` for each, until the process is
// killed. Returns the exit status if it cannot, having printed why.
int RunServer(int argc, char** argv, Co<> (*connection)(TcpStream stream));

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_SERVER_H_
