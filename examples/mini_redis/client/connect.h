// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: connect.h
// -----------------------------------------------------------------------------
//
// Internal to the client: connects to a server in time.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CONNECT_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace mini_redis::internal {

// Connects to "host:port". Each error names the address.
rouse::Co<absl::StatusOr<rouse::TcpStream>> Connect(std::string address,
                                                    absl::Duration timeout);

}  // namespace mini_redis::internal

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CONNECT_H_
