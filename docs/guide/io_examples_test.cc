// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of io.md, word for word (io_quotes_test sees to that), and tests
// that run them.

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/io/adapt/records.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buffer/buf_stream.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/process/standard_streams.h"
#include "rouse/runtime/runtime.h"

namespace {

// -----------------------------------------------------------------------------
// Standard streams

std::string Answer(std::string_view line) { return absl::StrCat(line, "!\n"); }

rouse::Co<absl::Status> AnswerEachLine() {
  rouse::Stdin input;
  rouse::Stdout output;
  rouse::BufReader reader(input);
  auto lines = rouse::Lines(reader, /*limit=*/8192);
  while (auto line = co_await rouse::Next(lines)) {
    co_await rouse::OrReturn(line->status());
    co_await rouse::OrReturn(rouse::WriteAll(output, Answer(**line)));
  }
  co_return co_await rouse::Flush(output);
}

TEST(IoExamples, TheStandardStreamsOfATestWork) {
  // The standard input of a test is empty, or not open.
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const absl::Status status = runtime.BlockOn(AnswerEachLine());
  EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
}

// -----------------------------------------------------------------------------
// Both directions

rouse::Co<absl::Status> AnswerRequests(rouse::DuplexStream stream) {
  rouse::BufStream connection(std::move(stream));
  std::string line;
  while (co_await rouse::OrReturn(rouse::ReadLine(connection, line, 8192))) {
    co_await rouse::OrReturn(rouse::WriteAll(connection, "you said "));
    co_await rouse::OrReturn(rouse::WriteAll(connection, Answer(line)));
    co_await rouse::OrReturn(rouse::Flush(connection));
    line.clear();
  }
  co_return co_await rouse::Shutdown(connection);
}

TEST(IoExamples, ABufStreamAnswers) {
  auto [client, server] = rouse::Duplex(1024);
  ASSERT_TRUE(rouse::BlockOn(rouse::WriteAll(client, "a\nb\n")).ok());
  ASSERT_TRUE(rouse::BlockOn(rouse::Shutdown(client)).ok());
  ASSERT_TRUE(rouse::BlockOn(AnswerRequests(std::move(server))).ok());
  std::string answers;
  ASSERT_TRUE(rouse::BlockOn(rouse::ReadToEnd(client, answers)).ok());
  EXPECT_EQ(answers, "you said a!\nyou said b!\n");
}

}  // namespace
