// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Only this part of coroutine_checks.h, which would have to be the first
// header: see coroutine_checks_nc_test.cc.
#define ROUSE_CHECK_COROUTINES 1

#include <cstddef>
#include <future>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/or_return.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

Co<int> Answer() { co_return 42; }
Co<size_t> Length(const std::string& text) { co_return text.size(); }
Gen<size_t> Lengths(const std::string& text) { co_yield text.size(); }

ROUSE_CORO_WRAPPER Co<int> Forward() { return Answer(); }

Co<int> UseAll() {
  int sum = co_await Forward();
  sum += static_cast<int>(co_await Length(std::string("temporary")));
  const int n = 1;
  const auto lambda = [n]() -> Co<int> { co_return n; };
  Co<int> outlived = lambda();
  co_return sum + co_await std::move(outlived);
}

#ifdef ROUSE_NC_DISCARDED_CO
void Discard() { Answer(); }
#endif

#ifdef ROUSE_NC_DISCARDED_GEN
void Discard(const std::string& text) { Lengths(text); }
#endif

#ifdef ROUSE_NC_DISCARDED_OR_RETURN
Co<absl::Status> Discard() {
  OrReturn(absl::OkStatus());
  co_return absl::OkStatus();
}
#endif

#ifdef ROUSE_NC_AWAIT_OF_NO_FUTURE
Co<> AwaitInt() { co_await 5; }
#endif

#ifdef ROUSE_NC_OVERALIGNED_RESULT
struct alignas(64) Line {};
Co<Line> MakeLine() { co_return Line(); }
#endif

#ifdef ROUSE_NC_OVERALIGNED_FUTURE
struct alignas(64) Line {
  Line() {}
  PollResult<int> Poll(Context&) { return 1; }
};
Co<int> AwaitLine() { co_return co_await Line(); }
#endif

#ifdef ROUSE_NC_AWAIT_OF_STD_FUTURE
Co<int> AwaitStd(std::future<int> future) { co_return co_await future; }
#endif

#ifdef ROUSE_NC_OR_RETURN_IN_CO_OF_VOID
Co<> Fails() { co_await OrReturn(absl::CancelledError()); }
#endif

#ifdef ROUSE_NC_OR_RETURN_IN_CO_OF_INT
Co<int> Fails() {
  co_await OrReturn(absl::CancelledError());
  co_return 1;
}
#endif

#ifdef ROUSE_NC_OR_RETURN_IN_GEN
Gen<int> Fails() {
  co_await OrReturn(absl::CancelledError());
  co_yield 1;
}
#endif

#ifdef ROUSE_NC_OR_RETURN_OF_INT
Co<absl::Status> Fails() {
  co_await OrReturn(5);
  co_return absl::OkStatus();
}
#endif

#ifdef ROUSE_NC_OR_RETURN_OF_CO_OF_INT
Co<absl::Status> Fails() {
  co_await OrReturn(Answer());
  co_return absl::OkStatus();
}
#endif

#ifdef ROUSE_NC_GEN_OF_REFERENCES
Gen<int&> References(int& x) { co_yield x; }
#endif

#ifdef ROUSE_NC_DANGLING_CAPTURE
Co<int> Dangle() {
  const int n = 1;
  Co<int> co = [n]() -> Co<int> { co_return n; }();
  co_return co_await std::move(co);
}
#endif

#ifdef ROUSE_NC_DANGLING_REFERENCE
Co<size_t> Dangle() {
  Co<size_t> co = Length(std::string("temporary"));
  co_return co_await std::move(co);
}
#endif

#ifdef ROUSE_NC_DANGLING_GEN
void Dangle() {
  Gen<size_t> gen = Lengths(std::string("temporary"));
  (void)gen;
}
#endif

#ifdef ROUSE_NC_RETURNED_CAPTURE
ROUSE_CORO_WRAPPER Co<int> Dangle(int n) {
  return [n]() -> Co<int> { co_return n; }();
}
#endif

#ifdef ROUSE_NC_RETURNED_REFERENCE
ROUSE_CORO_WRAPPER Co<size_t> Dangle() {
  const std::string local = "local";
  return Length(local);
}
#endif

}  // namespace rouse
