// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: panic.h
// -----------------------------------------------------------------------------
//
// `Panic()` reports a programming error, such as polling a finished future
// again, or spawning a task without a runtime. An error that can occur in a
// correct program is an `absl::Status` instead.

#ifndef ROUSE_BASE_PANIC_H_
#define ROUSE_BASE_PANIC_H_

#include "rouse/base/cxx20.h"

#include <stdexcept>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"

namespace rouse {

// Thrown by `Panic()` if exceptions are enabled.
class PanicError : public std::logic_error {
 public:
  explicit PanicError(std::string_view message)
      : std::logic_error(std::string(message)) {}
};

// Panic()
//
// Throws `PanicError(message)`. In a build without exceptions, prints `message`
// to standard error and aborts the program. `message` must describe the mistake
// and say what to do instead.
//
// A panic that escapes a task ends that task alone. The task's `JoinHandle`
// returns `absl::StatusCode::kInternal` with `message`.
[[noreturn]] ABSL_ATTRIBUTE_COLD void Panic(std::string_view message);

}  // namespace rouse

#endif  // ROUSE_BASE_PANIC_H_
