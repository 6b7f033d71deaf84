// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/async_write.h"

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/waiter.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Records its callers' places to wait.
class WithWaiter {
 public:
  class Waiter {};

  PollResult<absl::StatusOr<size_t>> PollWrite(Context&, std::string_view,
                                               Waiter* waiter = nullptr) const {
    waiter_ = waiter;
    return kPending;
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context&, absl::Span<const std::string_view>,
      Waiter* waiter = nullptr) const {
    waiter_ = waiter;
    return kPending;
  }
  PollResult<absl::Status> PollFlush(Context&, Waiter* waiter = nullptr) const {
    waiter_ = waiter;
    return kPending;
  }
  // Never waits, so it takes no waiter.
  PollResult<absl::Status> PollShutdown(Context&) const {
    return absl::OkStatus();
  }

  const Waiter* TakeWaiter() const {
    const Waiter* waiter = waiter_;
    waiter_ = nullptr;
    return waiter;
  }

 private:
  mutable const Waiter* waiter_ = nullptr;
};

static_assert(AsyncWrite<ScriptedWriter>);
static_assert(AsyncWrite<ScriptedWriter&>);
static_assert(!AsyncWrite<const ScriptedWriter>);
static_assert(AsyncWrite<const WithWaiter>);
static_assert(!AsyncWrite<ScriptedReader>);

class AsyncWriteTest : public IoTest {};

TEST_F(AsyncWriteTest, AWaiterIsPassedOn) {
  Context cx(task_.waker());
  const WithWaiter writer;
  IoWaiter<WithWaiter> waiter;
  EXPECT_TRUE(PollWrite(writer, cx, "x", &waiter).IsPending());
  EXPECT_EQ(writer.TakeWaiter(), &waiter);
  EXPECT_TRUE(PollWriteVectored(writer, cx, {"x"}, &waiter).IsPending());
  EXPECT_EQ(writer.TakeWaiter(), &waiter);
  EXPECT_TRUE(PollFlush(writer, cx, &waiter).IsPending());
  EXPECT_EQ(writer.TakeWaiter(), &waiter);
  EXPECT_TRUE(PollShutdown(writer, cx, &waiter)->ok());
  EXPECT_EQ(writer.TakeWaiter(), nullptr);
}

TEST_F(AsyncWriteTest, AStreamWithoutAWaiterGetsNone) {
  Context cx(task_.waker());
  ScriptedWriter writer;
  IoWaiter<ScriptedWriter> waiter;
  EXPECT_EQ(PollWrite(writer, cx, "ab", &waiter)->value(), 2u);
  EXPECT_EQ(PollWriteVectored(writer, cx, {"c", "d"}, &waiter)->value(), 2u);
  EXPECT_TRUE(PollFlush(writer, cx, &waiter)->ok());
  EXPECT_EQ(writer.flushed(), 4u);
  EXPECT_TRUE(PollShutdown(writer, cx, &waiter)->ok());
  EXPECT_TRUE(writer.is_shut_down());
  EXPECT_EQ(writer.written(), "abcd");
}

}  // namespace
}  // namespace rouse
