// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stress_handler.h
// -----------------------------------------------------------------------------
//
// The handler of the stress tests of servers and of clients.

#ifndef ROUSE_HTTP_H2_SHARED_STRESS_HANDLER_H_
#define ROUSE_HTTP_H2_SHARED_STRESS_HANDLER_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http::h2 {

// StressHandler()
//
// Answers a request whose path is "/KIND/NUMBER" with NUMBER bytes. The kinds
// are: "e", an echo; "o", an echo whose body another task reads; "s", a source;
// "w", a text after a time; others, a text.
Co<absl::StatusOr<Response>> StressHandler(Request request);

// StressHandlersAlive()
//
// Returns the number of futures of `StressHandler()` that exist. The caller
// must have waited for the tasks of the handlers.
int StressHandlersAlive();

// StressPieces()
//
// Gives `size` bytes in parts, and yields before some.
Gen<std::string> StressPieces(size_t size);

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_SHARED_STRESS_HANDLER_H_
