// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the tasks of a runtime in the loop of libuv, which also has a timer of
// its own.
//
//   tools/bazel run //examples/runtime_in_loop:uv_loop

#include <uv.h>

#include <cstdint>

#include "absl/time/time.h"
#include "rouse/examples/runtime_in_loop/service.h"
#include "rouse/rouse.h"

namespace {

// Calls `Runtime::Turn()` in the callbacks of a loop.
class UvTurns {
 public:
  UvTurns(rouse::Runtime& runtime, uv_loop_t* loop) : runtime_(runtime) {
    uv_poll_init(loop, &poll_, runtime.fd());
    uv_timer_init(loop, &timer_);
    poll_.data = timer_.data = this;
    uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
      static_cast<UvTurns*>(poll->data)->Turn();
    });
    uv_timer_start(&timer_, &OnTimer, 0, 0);
  }
  UvTurns(const UvTurns&) = delete;
  UvTurns& operator=(const UvTurns&) = delete;

  // Must be called before the runtime is destroyed. The loop must run once more
  // before this object is destroyed.
  void Close() {
    uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  }

 private:
  static void OnTimer(uv_timer_t* timer) {
    static_cast<UvTurns*>(timer->data)->Turn();
  }

  // libuv is written in C, so that no exception may leave a callback. A turn
  // throws only if a waker of the program throws.
  void Turn() noexcept {
    const absl::Duration wait = runtime_.Turn();
    if (wait == absl::InfiniteDuration()) {
      uv_timer_stop(&timer_);
    } else {
      const absl::Duration rounded = absl::Ceil(wait, absl::Milliseconds(1));
      uv_timer_start(&timer_, &OnTimer,
                     static_cast<uint64_t>(absl::ToInt64Milliseconds(rounded)),
                     0);
    }
  }

  rouse::Runtime& runtime_;
  uv_poll_t poll_;
  uv_timer_t timer_;
};

}  // namespace

int main() {
  rouse::Runtime runtime = example::MakeRuntime();
  uv_loop_t* const loop = uv_default_loop();
  UvTurns turns(runtime, loop);

  int bytes = 0;
  int ticks = 0;
  uv_timer_t ticker;
  uv_timer_init(loop, &ticker);
  ticker.data = &ticks;
  uv_timer_start(
      &ticker, [](uv_timer_t* timer) { ++*static_cast<int*>(timer->data); }, 1,
      1);
  runtime.Spawn(example::Serve(bytes, [loop] { uv_stop(loop); })).Detach();
  uv_run(loop, UV_RUN_DEFAULT);

  example::Report(bytes, ticks);
  turns.Close();
  uv_close(reinterpret_cast<uv_handle_t*>(&ticker), nullptr);
  uv_run(loop, UV_RUN_DEFAULT);
  uv_loop_close(loop);
}
