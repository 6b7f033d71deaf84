// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting without a buffer, and attempts that do not wait, on pipes: see
// evented_base.h.

#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/net/pipe.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/testing/internal/readiness_fixture.h"

namespace rouse {
namespace {

using reactor::Interest;
using ::testing::StartsWith;

using Result = std::optional<absl::StatusOr<size_t>>;

template <class S>
concept CanWaitToRead = requires(const S& s) { s.Readable(); };
template <class S>
concept CanWaitToWrite = requires(const S& s) { s.Writable(); };

static_assert(CanWaitToRead<PipeReader> && !CanWaitToWrite<PipeReader>);
static_assert(!CanWaitToRead<PipeWriter> && CanWaitToWrite<PipeWriter>);

TEST_F(ReadinessTest, APipeIsReadAndWrittenWithoutWaiting) {
  auto [reader, writer] = MakePipe().value();
  EXPECT_EQ(reader.TryRead(Buffer()), std::nullopt);
  AwaitWritable(writer);
  EXPECT_EQ(writer.TryWrite("p")->value(), 1u);
  const std::string_view parts[] = {"in", "g"};
  EXPECT_EQ(writer.TryWriteVectored(parts)->value(), 3u);
  AwaitReadable(reader);
  EXPECT_EQ(reader.TryRead(Buffer())->value(), 4u);
  EXPECT_EQ(Text(4), "ping");
  EXPECT_EQ(reader.TryRead(Buffer()), std::nullopt);

  const size_t written = Fill(writer);
  EXPECT_TRUE(IsPending(writer.Writable()));
  EXPECT_GT(written, 0u);
}

// A writer learns that the reader is closed without a write.
TEST_F(ReadinessTest, AWriterWithoutAReaderIsReadyToFail) {
  auto [reader, writer] = MakePipe().value();
  {
    const PipeReader closed = std::move(reader);
  }
  EXPECT_TRUE(Run(writer.Writable()).value().ready().IsWriteClosed());
  const Result size = writer.TryWrite("x");
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(size->status().message(), StartsWith("write to a pipe"));
}

TEST_F(ReadinessTest, APipeHasCallsOfTheCallersOwn) {
  auto [reader, writer] = MakePipe().value();
  const auto write_two = [fd = writer.fd()] { return write(fd, "ab", 2); };
  EXPECT_EQ(
      Run(writer.AsyncIo(Interest::kWritable, "write", write_two)).value(), 2u);
  const auto read_one = [&, fd = reader.fd()] { return read(fd, buffer_, 1); };
  AwaitReadable(reader);
  EXPECT_EQ(reader.TryIo(Interest::kReadable, "read", read_one)->value(), 1u);
}

}  // namespace
}  // namespace rouse
