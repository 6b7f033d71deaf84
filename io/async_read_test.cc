// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/async_read.h"

#include <cstddef>
#include <string_view>
#include <type_traits>

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

  PollResult<absl::StatusOr<size_t>> PollRead(Context&, absl::Span<char>,
                                              Waiter* waiter = nullptr) const {
    waiter_ = waiter;
    return kPending;
  }
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context&, Waiter* waiter = nullptr) const {
    waiter_ = waiter;
    return kPending;
  }
  void Consume(size_t) const {}

  const Waiter* waiter() const { return waiter_; }

 private:
  mutable const Waiter* waiter_ = nullptr;
};

class ReturnsInt {
 public:
  PollResult<int> PollRead(Context&, absl::Span<char>);
};

// Reads into several buffers by itself.
class WithVectored : public WithWaiter {
 public:
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context&, absl::Span<const absl::Span<char>> buffers) const {
    return absl::StatusOr<size_t>(buffers.size());
  }
};

static_assert(AsyncReadVectored<const WithVectored>);
static_assert(!AsyncReadVectored<WithWaiter>);
static_assert(!AsyncReadVectored<ScriptedReader>);
static_assert(AsyncRead<ScriptedReader>);
static_assert(AsyncRead<ScriptedReader&>);
static_assert(!AsyncRead<const ScriptedReader>);
static_assert(!AsyncBufRead<ScriptedReader>);
static_assert(AsyncRead<const WithWaiter>);
static_assert(AsyncBufRead<const WithWaiter&>);
static_assert(!AsyncRead<ReturnsInt>);
static_assert(!AsyncRead<int>);
static_assert(std::is_same_v<IoWaiter<const WithWaiter&>, WithWaiter::Waiter>);
static_assert(std::is_empty_v<IoWaiter<ScriptedReader>>);

class AsyncReadTest : public IoTest {};

TEST_F(AsyncReadTest, AWaiterIsPassedOn) {
  Context cx(task_.waker());
  const WithWaiter reader;
  IoWaiter<WithWaiter> waiter;
  EXPECT_TRUE(PollRead(reader, cx, {}, &waiter).IsPending());
  EXPECT_EQ(reader.waiter(), &waiter);
  EXPECT_TRUE(PollFillBuf(reader, cx, nullptr).IsPending());
  EXPECT_EQ(reader.waiter(), nullptr);
  EXPECT_TRUE(PollFillBuf(reader, cx, &waiter).IsPending());
  EXPECT_EQ(reader.waiter(), &waiter);
}

TEST_F(AsyncReadTest, AStreamWithoutAWaiterGetsNone) {
  Context cx(task_.waker());
  ScriptedReader reader("abc");
  IoWaiter<ScriptedReader> waiter;
  char buffer[2];
  EXPECT_EQ(PollRead(reader, cx, absl::MakeSpan(buffer), &waiter)->value(), 2u);
  EXPECT_EQ(std::string_view(buffer, 2), "ab");
}

TEST_F(AsyncReadTest, AVectoredReadUsesTheReadersFunction) {
  Context cx(task_.waker());
  const WithVectored reader;
  IoWaiter<WithVectored> waiter;
  const absl::Span<char> buffers[3];
  EXPECT_EQ(PollReadVectored(reader, cx, buffers, &waiter)->value(), 3u);
}

TEST_F(AsyncReadTest, AVectoredReadOtherwiseFillsTheFirstBuffer) {
  Context cx(task_.waker());
  ScriptedReader reader("abcdef");
  char first[2];
  char second[4];
  const absl::Span<char> buffers[] = {absl::Span<char>(), absl::MakeSpan(first),
                                      absl::MakeSpan(second)};
  EXPECT_EQ(PollReadVectored(reader, cx, buffers, nullptr)->value(), 2u);
  EXPECT_EQ(std::string_view(first, 2), "ab");
  EXPECT_EQ(PollReadVectored(reader, cx, {}, nullptr)->value(), 0u);
  EXPECT_EQ(reader.polls(), 1);
}

// Has a buffer, and no function for several buffers.
class Buffered : public ScriptedReader {
 public:
  using ScriptedReader::ScriptedReader;

  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(Context&) {
    if (fails_) return absl::StatusOr<std::string_view>(absl::AbortedError(""));
    return absl::StatusOr<std::string_view>(rest_);
  }
  void Consume(size_t size) { rest_.remove_prefix(size); }

  std::string_view rest_ = "abcdef";
  bool fails_ = false;
};

TEST_F(AsyncReadTest, AVectoredReadOfABufferFillsAllBuffers) {
  Context cx(task_.waker());
  Buffered reader;
  char first[2];
  char second[3];
  const absl::Span<char> buffers[] = {absl::Span<char>(), absl::MakeSpan(first),
                                      absl::MakeSpan(second)};
  EXPECT_EQ(PollReadVectored(reader, cx, {}, nullptr)->value(), 0u);
  EXPECT_EQ(PollReadVectored(reader, cx, buffers, nullptr)->value(), 5u);
  EXPECT_EQ(std::string_view(second, 3), "cde");
  EXPECT_EQ(reader.rest_, "f");
  reader.fails_ = true;
  EXPECT_EQ(PollReadVectored(reader, cx, buffers, nullptr)->status().code(),
            absl::StatusCode::kAborted);
  const WithWaiter waiting;
  IoWaiter<WithWaiter> waiter;
  EXPECT_TRUE(PollReadVectored(waiting, cx, buffers, &waiter).IsPending());
  EXPECT_EQ(waiting.waiter(), &waiter);
}

}  // namespace
}  // namespace rouse
