// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests coroutines that poll one another to a depth for which there is not
// enough stack.

#include <cstddef>
#include <functional>
#include <string>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/ready.h"
#include "rouse/testing/poll_once.h"

namespace rouse {
namespace {

Co<int> ByLvalue(int depth) {
  if (depth == 0) co_return 0;
  Co<int> child = ByLvalue(depth - 1);
  co_return 1 + co_await child;
}

Co<int> ByJoin(int depth) {
  if (depth == 0) co_return 0;
  auto join = Join(ByJoin(depth - 1), Ready());
  const auto outputs = co_await join;
  co_return 1 + std::get<0>(outputs);
}

#ifdef ABSL_HAVE_EXCEPTIONS

constexpr int kDepth = 1'000'000;

// Returns the message of the panic that ends `co` on a thread with a small
// stack.
std::string PanicOf(std::function<Co<int>(int)> recurse) {
  std::string message = "none";
  absl::StatusOr<Thread> thread = Thread::Start(
      "recursion",
      [&] {
        try {
          Co<int> co = recurse(kDepth);
          message = PollOnce(co).IsReady() ? "ready" : "pending";
        } catch (const PanicError& panic) {
          message = panic.what();
        }
      },
      /*stack_size=*/size_t{1} << 20);
  EXPECT_TRUE(thread.ok()) << thread.status();
  if (thread.ok()) thread->Join();
  return message;
}

TEST(Recursion, ThroughAnLvaluePanicsBeforeTheStackOverflows) {
  EXPECT_THAT(
      PanicOf(&ByLvalue),
      ::testing::HasSubstr("await a temporary Co, as in `co_await Call()`"));
}

TEST(Recursion, ThroughAJoinPanicsBeforeTheStackOverflows) {
  EXPECT_THAT(
      PanicOf(&ByJoin),
      ::testing::HasSubstr("await a temporary Co, as in `co_await Call()`"));
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Recursion, ToModerateDepthSucceeds) {
  Co<int> co = ByLvalue(200);
  EXPECT_EQ(PollOnce(co).value(), 200);
  Co<int> join = ByJoin(200);
  EXPECT_EQ(PollOnce(join).value(), 200);
}

}  // namespace
}  // namespace rouse
