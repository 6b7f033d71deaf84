// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/flush.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/write.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<FlushFuture<ScriptedWriter>>);
static_assert(Future<ShutdownFuture<ScriptedWriter>>);

class FlushTest : public IoTest {
 protected:
  ScriptedWriter writer_;
};

TEST_F(FlushTest, FlushesWhenTheWriterIsReady) {
  ASSERT_TRUE(Run(Write(writer_, "abc")).ok());
  writer_.BePendingInTurns();
  auto flush = Flush(writer_);
  ASSERT_TRUE(Poll(flush).IsPending());
  EXPECT_EQ(writer_.flushed(), 0u);
  EXPECT_TRUE(Poll(flush)->ok());
  EXPECT_EQ(writer_.flushed(), 3u);
}

TEST_F(FlushTest, ShutsDownWhenTheWriterIsReady) {
  writer_.BePendingInTurns();
  auto shutdown = Shutdown(writer_);
  ASSERT_TRUE(Poll(shutdown).IsPending());
  EXPECT_FALSE(writer_.is_shut_down());
  EXPECT_TRUE(Poll(shutdown)->ok());
  EXPECT_TRUE(writer_.is_shut_down());
}

TEST_F(FlushTest, AnErrorIsPassedOn) {
  writer_.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(Flush(writer_)), absl::UnavailableError("reset"));
  writer_.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(Shutdown(writer_)), absl::UnavailableError("reset"));
  EXPECT_FALSE(writer_.is_shut_down());
}

TEST_F(FlushTest, PollingACompleteFuturePanics) {
  auto flush = Flush(writer_);
  ASSERT_TRUE(Poll(flush).IsReady());
  EXPECT_PANIC((void)Poll(flush), "Flush was polled after");
  auto shutdown = Shutdown(writer_);
  ASSERT_TRUE(Poll(shutdown).IsReady());
  EXPECT_PANIC((void)Poll(shutdown), "Shutdown was polled after");
}

}  // namespace
}  // namespace rouse
