// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_main.h
// -----------------------------------------------------------------------------
//
// `RunMain()` is the body of a program's `main()`:
//
//   rouse::Co<absl::Status> Main() {
//     std::string config = co_await rouse::OrReturn(ReadConfig());
//     ...
//     co_return absl::OkStatus();
//   }
//
//   int main() { return rouse::RunMain(Main()); }
//
// If `ReadConfig()` fails, the program prints one line and exits with status 1:
//
//   server: NOT_FOUND: cannot open server.conf

#ifndef ROUSE_RUNTIME_RUN_MAIN_H_
#define ROUSE_RUNTIME_RUN_MAIN_H_

#include <concepts>
#include <source_location>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/runtime/runtime.h"

namespace rouse {

namespace internal {

template <class T>
concept MainOutput =
    std::same_as<T, void> || std::same_as<T, int> ||
    std::same_as<T, absl::Status> || std::same_as<T, absl::StatusOr<int>>;

// Returns the exit status for the result of the main task. Prints an error to
// standard error.
int ExitStatus(const absl::Status& result);
int ExitStatus(const absl::StatusOr<int>& result);

}  // namespace internal

// RunMain()
//
// Makes a runtime, runs `main` on the runtime as a task named "main", shuts the
// runtime down, and returns the program's exit status. `main` is a future, or a
// callable returning a future; the future's output is `void`, `int`,
// `absl::Status` or `absl::StatusOr<int>`. By default the runtime is a
// multi-thread runtime with the default options; `builder` sets other options:
//
//   return rouse::RunMain(Main(), rouse::Builder::CurrentThread());
//
// Returns 0 if the output is `void` or OK, and the number if the output is a
// number, of which the system passes on the lowest 8 bits. Otherwise prints one
// line to standard error, with the program's name and the error, and returns 1.
// An error is
//
//   an error that `main` returns;
//   an exception (including a `Panic()`) that escapes `main`: `kInternal`, with
//   the text of the exception and the line of the call to `RunMain()`;
//   an error of `Builder::Build()`.
//
// The error is printed before the runtime is shut down. The shutdown cancels
// the tasks that have not ended, and waits for blocking calls in progress: see
// `Runtime`.
//
// REQUIRES: The caller is not inside a task or a `BlockOn()`; a violation is a
// `Panic()`.
//
// A program that needs the runtime outside its main task builds a `Runtime` in
// its own `main()`.
template <IntoFuture F>
int RunMain(F&& main, Builder builder = Builder::MultiThread(),
            std::source_location where = std::source_location::current()) {
  static_assert(
      internal::MainOutput<FutureOutput<internal::FutureFrom<F>>>,
      "the output of RunMain()'s future must be void, int, absl::Status or "
      "absl::StatusOr<int>");
  absl::StatusOr<Runtime> runtime = builder.Build();
  if (!runtime.ok()) return internal::ExitStatus(runtime.status());
  return internal::ExitStatus(runtime->BlockOn(
      runtime->Spawn(std::forward<F>(main), {.name = "main"}, where)));
}

}  // namespace rouse

#endif  // ROUSE_RUNTIME_RUN_MAIN_H_
