// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Futures that must not be spawned. rouse_cc_nc_test compiles one case at a
// time.

#include "rouse/future/future.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::task {
namespace {

// A future that is ready with a `T`.
template <class T>
class Gives {
 public:
  Gives() = default;
  PollResult<T> Poll(Context&) { return T(); }
};

template <class F>
[[maybe_unused]] JoinHandle<FutureOutput<F>> Start(Schedule* schedule) {
  return JoinHandle<FutureOutput<F>>(new Cell<F>(schedule, 1, F()));
}

// Compiles. Each of the cases differs from this function by one error.
[[maybe_unused]] auto Fine(Schedule* schedule) {
  return Start<Gives<int>>(schedule);
}

#ifdef ROUSE_NC_THROWING_OUTPUT
// Trap S19 (tokio #4430).
struct Throws {
  Throws() = default;
  Throws(Throws&&) = default;
  Throws& operator=(Throws&&) = default;
  ~Throws() noexcept(false) {}
};
[[maybe_unused]] auto Bad(Schedule* schedule) {
  return Start<Gives<Throws>>(schedule);
}
#endif

#ifdef ROUSE_NC_OVERALIGNED_FUTURE
class alignas(64) Wide : public Gives<int> {
 public:
  Wide() = default;
};
[[maybe_unused]] auto Bad(Schedule* schedule) { return Start<Wide>(schedule); }
#endif

}  // namespace
}  // namespace rouse::task
