// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/bridge/sync_io_bridge.h"

#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/memory/cursor.h"
#include "rouse/io/memory/simplex.h"
#include "rouse/io/seek/async_seek.h"

namespace rouse {
namespace {

// docs/guide/io.md states the size.
static_assert(sizeof(SyncIoBridge<DuplexStream&>) == sizeof(DuplexStream*));

TEST(SyncIoBridgeTest, OwnsOrRefers) {
  auto [a, b] = Duplex(16);
  SyncIoBridge refers(a);
  static_assert(std::is_same_v<decltype(refers), SyncIoBridge<DuplexStream&>>);
  EXPECT_EQ(&refers.inner(), &a);
  SyncIoBridge owns(std::move(b));
  static_assert(std::is_same_v<decltype(owns), SyncIoBridge<DuplexStream>>);
  ASSERT_TRUE(owns.WriteAll("x").ok());
  const DuplexStream back = std::move(owns).IntoInner();
  char buffer[4];
  EXPECT_EQ(refers.Read(absl::MakeSpan(buffer)).value(), 1u);
}

TEST(SyncIoBridgeTest, ReadsAndWritesAcrossThreads) {
  auto [near, far] = Duplex(5);
  std::string sent;
  for (int i = 0; i < 1000; ++i) sent += std::to_string(i);
  std::thread thread([&sent, far = std::move(far)]() mutable {
    SyncIoBridge bridge(std::move(far));
    char head[3];
    EXPECT_TRUE(bridge.ReadExact(absl::MakeSpan(head)).ok());
    EXPECT_EQ(std::string_view(head, 3), "012");
    std::string rest;
    EXPECT_EQ(bridge.ReadToEnd(rest).value(), sent.size() - 3);
    EXPECT_EQ(rest, sent.substr(3));
    EXPECT_EQ(bridge.Write("done").value(), 4u);
    EXPECT_TRUE(bridge.Flush().ok());
    EXPECT_TRUE(bridge.Shutdown().ok());
  });
  SyncIoBridge bridge(std::move(near));
  EXPECT_TRUE(bridge.WriteAll(sent).ok());
  EXPECT_TRUE(bridge.Shutdown().ok());
  std::string answer;
  EXPECT_EQ(bridge.ReadToEnd(answer).value(), 4u);
  thread.join();
  EXPECT_EQ(answer, "done");
}

TEST(SyncIoBridgeTest, HasTheFunctionsOfTheStream) {
  SyncIoBridge lines(BufReader(Cursor("one\ntwo")));
  std::string line;
  EXPECT_TRUE(lines.ReadLine(line).value());
  EXPECT_EQ(line, "one");
  EXPECT_EQ(lines.ReadLine(line, 1).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(lines.Seek(-1, SeekFrom::kEnd).value(), 6u);
  std::string rest;
  EXPECT_EQ(lines.ReadToEnd(rest, 0).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SyncIoBridgeTest, AnErrorIsReturned) {
  auto ends = Simplex(4);
  {
    SimplexReader closed = std::move(ends.first);
  }
  SyncIoBridge writer(std::move(ends.second));
  EXPECT_EQ(writer.Write("x").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace rouse
