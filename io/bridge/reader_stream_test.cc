// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/bridge/reader_stream.h"

#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Stream<ReaderStream<ScriptedReader>>);
static_assert(Stream<ReaderStream<BufReader<ScriptedReader>&>>);
// docs/guide/io.md states the size.
static_assert(sizeof(ReaderStream<ScriptedReader&>) ==
              sizeof(ScriptedReader*) + 4 * sizeof(void*));

class ReaderStreamTest : public IoTest {};

TEST_F(ReaderStreamTest, EachReadIsAnItem) {
  ScriptedReader reader;
  reader.Bytes("abcdef").Pending().Bytes("gh");
  ReaderStream chunks(reader, 4);
  static_assert(
      std::is_same_v<decltype(chunks), ReaderStream<ScriptedReader&>>);
  EXPECT_EQ(Run(Next(chunks))->value(), "abcd");
  EXPECT_EQ(Run(Next(chunks))->value(), "ef");
  auto next = Next(chunks);
  EXPECT_TRUE(Poll(next).IsPending());
  EXPECT_EQ((*Poll(next))->value(), "gh");
  EXPECT_FALSE(Run(Next(chunks)).has_value());
  const int polls = reader.polls();
  EXPECT_FALSE(Run(Next(chunks)).has_value());
  EXPECT_EQ(reader.polls(), polls);
  EXPECT_EQ(&chunks.inner(), &reader);
}

TEST_F(ReaderStreamTest, AnErrorIsTheLastItem) {
  ScriptedReader reader;
  reader.Bytes("a").Error(absl::UnavailableError("reset")).Bytes("b");
  ReaderStream chunks(std::move(reader));
  EXPECT_EQ(Run(Next(chunks))->value(), "a");
  EXPECT_EQ(Run(Next(chunks))->status(), absl::UnavailableError("reset"));
  EXPECT_FALSE(Run(Next(chunks)).has_value());
  ScriptedReader back = std::move(chunks).IntoInner();
  std::string rest;
  EXPECT_EQ(Run(ReadToEnd(back, rest)).value(), 1u);
}

TEST_F(ReaderStreamTest, ItemsOfABufferedReaderComeFromItsBuffer) {
  ScriptedReader source("abcdefgh");
  BufReader reader(source, 6);
  ReaderStream chunks(reader, 4);
  EXPECT_EQ(Run(Next(chunks))->value(), "abcd");
  EXPECT_EQ(reader.buffered(), "ef");
  EXPECT_EQ(Run(Next(chunks))->value(), "ef");
  EXPECT_EQ(Run(Next(chunks))->value(), "gh");
  EXPECT_FALSE(Run(Next(chunks)).has_value());
}

TEST_F(ReaderStreamTest, ADestroyedFutureLosesNothing) {
  auto [near, far] = Duplex(16);
  ReaderStream chunks(std::move(near));
  {
    auto next = Next(chunks);
    EXPECT_TRUE(Poll(next).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(WriteAll(far, "abc")).ok());
  EXPECT_EQ(Run(Next(chunks))->value(), "abc");
}

TEST_F(ReaderStreamTest, NeedsCapacity) {
  EXPECT_PANIC(ReaderStream(ScriptedReader(), 0),
               "ReaderStream: the capacity is 0");
}

}  // namespace
}  // namespace rouse
