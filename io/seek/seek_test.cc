// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/seek/seek.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// A stream of 100 bytes, each of whose seeks is pending once.
class Slow {
 public:
  class Waiter {};

  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from,
                                                Waiter* waiter = nullptr) {
    using Result = absl::StatusOr<uint64_t>;
    waiter_ = waiter;
    is_ready_ = !is_ready_;
    if (is_ready_) {
      cx.waker().WakeByRef();
      return kPending;
    }
    const int64_t base = from == SeekFrom::kBegin ? 0
                         : from == SeekFrom::kEnd ? 100
                                                  : position_;
    if (base + offset < 0) return Result(absl::InvalidArgumentError("front"));
    position_ = base + offset;
    return Result(static_cast<uint64_t>(position_));
  }

  const Waiter* waiter() const { return waiter_; }

 private:
  int64_t position_ = 10;
  bool is_ready_ = false;
  const Waiter* waiter_ = nullptr;
};

class WithoutWaiter {
 public:
  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context&, int64_t offset,
                                                SeekFrom) {
    return absl::StatusOr<uint64_t>(static_cast<uint64_t>(offset));
  }
};

static_assert(AsyncSeek<Slow>);
static_assert(AsyncSeek<Slow&>);
static_assert(AsyncSeek<WithoutWaiter>);
static_assert(!AsyncSeek<ScriptedReader>);

class SeekTest : public IoTest {
 protected:
  Slow stream_;
};

TEST_F(SeekTest, CountsFromThreePlaces) {
  EXPECT_EQ(Run(Position(stream_)).value(), 10u);
  EXPECT_EQ(Run(Seek(stream_, 20)).value(), 20u);
  EXPECT_EQ(Run(Seek(stream_, -5, SeekFrom::kCurrent)).value(), 15u);
  EXPECT_EQ(Run(Seek(stream_, -1, SeekFrom::kEnd)).value(), 99u);
  EXPECT_EQ(Run(Rewind(stream_)).value(), 0u);
}

TEST_F(SeekTest, WaitsAndPassesItsPlaceToWait) {
  auto seek = Seek(stream_, 1);
  EXPECT_TRUE(Poll(seek).IsPending());
  EXPECT_NE(stream_.waiter(), nullptr);
  EXPECT_EQ(Poll(seek)->value(), 1u);
  EXPECT_PANIC((void)Poll(seek), "Seek was polled after");
}

TEST_F(SeekTest, AnErrorIsPassedOn) {
  EXPECT_EQ(Run(Seek(stream_, -1)).status(),
            absl::InvalidArgumentError("front"));
}

TEST_F(SeekTest, AStreamNeedsNoPlaceToWait) {
  WithoutWaiter stream;
  EXPECT_EQ(Run(Seek(stream, 7)).value(), 7u);
}

}  // namespace
}  // namespace rouse
