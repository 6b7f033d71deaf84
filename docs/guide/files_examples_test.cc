// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of files.md, word for word (files_quotes_test sees to that), and
// tests that run them.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/file.h"
#include "rouse/fs/file_reader.h"
#include "rouse/fs/watcher.h"
#include "rouse/fs/whole_file.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/future/yield.h"
#include "rouse/io/read_line.h"
#include "rouse/runtime/runtime.h"

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

// -----------------------------------------------------------------------------
// Whole files

rouse::Co<absl::Status> Increment(std::string path) {
  auto read = rouse::fs::ReadFile(path, /*limit=*/100);
  const std::string text = co_await rouse::OrReturn(read);
  int64_t count;
  if (!absl::SimpleAtoi(text, &count)) {
    co_return absl::DataLossError(absl::StrCat(path, " is no number"));
  }
  auto write = rouse::fs::WriteFileAtomically(path, absl::StrCat(count + 1));
  co_return co_await std::move(write);
}

TEST(FilesExamples, WholeFiles) {
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const std::string path = testing::TempDir() + "/count";
  EXPECT_THAT(runtime.BlockOn(rouse::fs::WriteFile(path, "41")), IsOk());
  EXPECT_THAT(runtime.BlockOn(Increment(path)), IsOk());
  EXPECT_THAT(runtime.BlockOn(rouse::fs::ReadFile(path)), IsOkAndHolds("42"));
  EXPECT_THAT(runtime.BlockOn(rouse::fs::WriteFile(path, "many")), IsOk());
  EXPECT_THAT(runtime.BlockOn(Increment(path)),
              StatusIs(absl::StatusCode::kDataLoss));
}

// -----------------------------------------------------------------------------
// Streams

rouse::Co<absl::StatusOr<int>> CountLines(std::string path) {
  auto open = rouse::fs::File::Open(path);
  rouse::fs::FileReader reader(co_await rouse::OrReturn(open));
  int lines = 0;
  std::string line;
  for (;;) {
    line.clear();
    auto read = rouse::ReadLine(reader, line);
    if (co_await rouse::OrReturn(read) == 0) co_return lines;
    ++lines;
  }
}

TEST(FilesExamples, Streams) {
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const std::string path = testing::TempDir() + "/lines";
  EXPECT_THAT(runtime.BlockOn(rouse::fs::WriteFile(path, "a\nb\nc")), IsOk());
  EXPECT_THAT(runtime.BlockOn(CountLines(path)), IsOkAndHolds(3));
  EXPECT_THAT(runtime.BlockOn(CountLines(path + ".no")),
              StatusIs(absl::StatusCode::kNotFound));
}

// -----------------------------------------------------------------------------
// Changes

// Waits until `WriteFileAtomically()` makes the file, and returns its contents.
rouse::Co<absl::StatusOr<std::string>> ReadOnceMade(std::string directory,
                                                    std::string name) {
  auto create = rouse::fs::Watcher::Create();
  auto watcher = co_await rouse::OrReturn(std::move(create));
  auto add = watcher.Add(directory, rouse::fs::WatchKind::kMovedTo);
  co_await rouse::OrReturn(add);
  for (;;) {
    auto read = rouse::fs::ReadFile(absl::StrCat(directory, "/", name));
    absl::StatusOr<std::string> text = co_await std::move(read);
    if (!absl::IsNotFound(text.status())) co_return text;
    // Any event is a reason to look again, even `kOverflow`.
    std::optional<absl::StatusOr<rouse::fs::WatchEvent>> event =
        co_await rouse::Next(watcher);
    if (!event.has_value()) co_return absl::AbortedError("no more events");
    if (!event->ok()) co_return event->status();
  }
}

TEST(FilesExamples, Changes) {
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const std::string directory = testing::TempDir();
  auto read = ReadOnceMade(directory, "made");
  const auto write = [&]() -> rouse::Co<absl::Status> {
    co_await rouse::Yield();
    co_return co_await rouse::fs::WriteFileAtomically(directory + "/made",
                                                      "text");
  };
  auto both = rouse::Join(std::move(read), write());
  const auto [text, written] = runtime.BlockOn(std::move(both));
  EXPECT_THAT(written, IsOk());
  EXPECT_THAT(text, IsOkAndHolds("text"));
}

}  // namespace
