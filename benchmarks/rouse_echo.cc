// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// rouse_echo PORT [ct | mt WORKERS]: serves echoes on 127.0.0.1 until the
// process is killed, with a task for each connection.

#include "rouse/benchmarks/echo.h"
#include "rouse/benchmarks/server.h"

int main(int argc, char** argv) {
  return rouse::bench::RunServer(argc, argv, &rouse::bench::Echo);
}
