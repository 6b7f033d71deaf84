// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of streams.md, word for word (streams_quotes_test sees to that),
// and tests that run them.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/future/streams.h"
#include "rouse/sync/mpsc.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/chunks_timeout.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/thread_parker.h"

namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// -----------------------------------------------------------------------------
// From left to right

rouse::Co<int> Fetch(std::string url) {
  co_return static_cast<int>(url.size());
}

bool IsSecure(const std::string& url) { return url.starts_with("https:"); }

rouse::Co<std::vector<int>> FirstTen(std::vector<std::string> urls) {
  co_return co_await (rouse::Iter(std::move(urls)) | rouse::Filter(&IsSecure) |
                      rouse::Map(&Fetch) | rouse::BufferUnordered(8) |
                      rouse::Take(10) | rouse::Collect());
}

TEST(StreamsExamples, ReadFromLeftToRight) {
  std::vector<std::string> urls = {"https:a", "http:b", "https:cd"};
  EXPECT_THAT(rouse::BlockOn(FirstTen(std::move(urls))),
              UnorderedElementsAre(7, 8));
}

auto FirstNumbers(size_t count) {
  auto parse = [](const std::string& word) -> std::optional<int> {
    int number;
    if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
    return number;
  };
  return rouse::FilterMap(parse) | rouse::Take(count);
}

rouse::Co<int> Sum(std::vector<std::string> words) {
  co_return co_await (rouse::Iter(std::move(words)) | FirstNumbers(2) |
                      rouse::Fold(0, std::plus<>()));
}

TEST(StreamsExamples, ComposeAdapters) {
  std::vector<std::string> words = {"a", "1", "2", "b", "3"};
  EXPECT_EQ(rouse::BlockOn(Sum(std::move(words))), 3);
}

// -----------------------------------------------------------------------------
// Several streams

rouse::Co<std::vector<std::string>> Log(rouse::mpsc::Receiver<int> news,
                                        rouse::mpsc::Receiver<int> sport) {
  rouse::StreamMap<std::string, rouse::mpsc::Receiver<int>> channels;
  channels.Insert("news", std::move(news));
  channels.Insert("sport", std::move(sport));
  std::vector<std::string> log;
  while (auto message = co_await rouse::Next(channels)) {
    auto& [channel, number] = *message;
    log.push_back(absl::StrCat(channel, " ", number));
    if (number == 0) channels.Remove(channel);
  }
  co_return log;
}

TEST(StreamsExamples, MapNamesToStreams) {
  auto [a_tx, a] = rouse::mpsc::Channel<int>(4);
  auto [b_tx, b] = rouse::mpsc::Channel<int>(4);
  ASSERT_TRUE(a_tx.TrySend(1).ok());
  ASSERT_TRUE(b_tx.TrySend(0).ok());
  ASSERT_TRUE(a_tx.TrySend(0).ok());
  EXPECT_THAT(rouse::BlockOn(Log(std::move(a), std::move(b))),
              UnorderedElementsAre("news 1", "news 0", "sport 0"));
}

// -----------------------------------------------------------------------------
// Errors

absl::StatusOr<int> ReadRow(int row) {
  if (row == 2) return absl::DataLossError("row 2");
  return 10 * row;
}

rouse::Gen<absl::StatusOr<int>> Rows(int count) {
  for (int row = 0; row < count; ++row) {
    co_yield co_await rouse::OrReturn(ReadRow(row));
  }
}

rouse::Co<absl::StatusOr<int>> SumOfRows(int count) {
  int sum = 0;
  rouse::Gen<absl::StatusOr<int>> rows = Rows(count);
  while (auto row = co_await rouse::Next(rows)) {
    sum += co_await rouse::OrReturn(*std::move(row));
  }
  co_return sum;
}

TEST(StreamsExamples, EndWithAnError) {
  EXPECT_EQ(rouse::BlockOn(SumOfRows(2)).value(), 10);
  EXPECT_EQ(rouse::BlockOn(SumOfRows(5)).status(),
            absl::DataLossError("row 2"));
}

rouse::Co<absl::StatusOr<std::vector<int>>> AllRows(int count) {
  co_return co_await (Rows(count) | rouse::TryCollect());
}

TEST(StreamsExamples, CollectUpToAnError) {
  EXPECT_THAT(rouse::BlockOn(AllRows(2)).value(), ElementsAre(0, 10));
  EXPECT_EQ(rouse::BlockOn(AllRows(5)).status(), absl::DataLossError("row 2"));
}

// -----------------------------------------------------------------------------
// Sinks

rouse::Co<absl::Status> SendAll(std::vector<int> numbers,
                                rouse::mpsc::Sender<int> tx) {
  auto items = rouse::Iter(std::move(numbers));
  auto sending = items | rouse::Forward(std::move(tx));
  absl::Status status = co_await sending;
  if (!status.ok()) {
    // `first` and the rest of `items` were not sent.
    std::optional<int> first = sending.TakeUnsent();
    co_return absl::CancelledError(absl::StrCat("at ", *first));
  }
  co_return status;
}

TEST(StreamsExamples, ForwardToAChannel) {
  auto [tx, rx] = rouse::mpsc::Channel<int>(4);
  EXPECT_EQ(rouse::BlockOn(SendAll({1, 2}, tx)), absl::OkStatus());
  rx.Close();
  EXPECT_EQ(rouse::BlockOn(SendAll({3, 4}, tx)), absl::CancelledError("at 3"));
}

// -----------------------------------------------------------------------------
// Time

rouse::Co<int> WriteInBatches(rouse::mpsc::Receiver<int> rows) {
  auto batches =
      std::move(rows) | rouse::ChunksTimeout(100, absl::Milliseconds(50));
  int writes = 0;
  while (auto batch = co_await rouse::Next(batches)) ++writes;
  co_return writes;
}

TEST(StreamsExamples, WriteInBatches) {
  rouse::wheel::Driver<rouse::ThreadParker> driver(
      {.clock = rouse::PausedClock()});
  const rouse::wheel::ScopedDefault current(driver.handle());
  auto [tx, rx] = rouse::mpsc::Channel<int>(150);
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(tx.TrySend(i).ok());
  std::optional<rouse::mpsc::Sender<int>> last(std::move(tx));
  last.reset();
  EXPECT_EQ(rouse::BlockOn(WriteInBatches(std::move(rx))), 2);
}

}  // namespace
