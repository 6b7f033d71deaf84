// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the tasks of a runtime in an io_context of Asio, which also has a timer
// of its own.
//
//   tools/bazel run //examples/runtime_in_loop:asio_loop

#include <chrono>

#include "asio/error_code.hpp"
#include "asio/io_context.hpp"
#include "asio/steady_timer.hpp"
#include "rouse/examples/runtime_in_loop/service.h"
#include "rouse/interop/asio/turns_in_io_context.h"
#include "rouse/interop/asio/use_rouse.h"
#include "rouse/rouse.h"

namespace {

// A task of Rouse that waits for a timer of Asio.
rouse::Co<> Tick(asio::io_context& context, int& ticks) {
  asio::steady_timer timer(context);
  for (;;) {
    timer.expires_after(std::chrono::milliseconds(1));
    auto wait = timer.async_wait(rouse::interop::use_rouse);
    if (!(co_await wait).ok()) co_return;
    ++ticks;
  }
}

}  // namespace

int main() {
  asio::io_context context;
  rouse::Runtime runtime = example::MakeRuntime();
  int bytes = 0;
  int ticks = 0;
  {
    const rouse::interop::TurnsInIoContext turns(runtime, context);
    runtime.Spawn(Tick(context, ticks)).Detach();
    runtime.Spawn(example::Serve(bytes, [&context] { context.stop(); }))
        .Detach();
    context.run();
  }
  example::Report(bytes, ticks);
}
