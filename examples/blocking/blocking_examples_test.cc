// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the examples of docs/guide/blocking.md. blocking_quotes_test compares
// that page with this file.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"

namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

rouse::Co<absl::StatusOr<size_t>> CountLines(std::string path) {
  auto read = [path] { return ReadFile(path); };
  std::string text = co_await rouse::OrReturn(rouse::SpawnBlocking(read));
  co_return std::count(text.begin(), text.end(), '\n');
}

rouse::Co<absl::StatusOr<std::string>> FirstOf(std::string a, std::string b) {
  rouse::JoinHandle<absl::StatusOr<std::string>> first =
      rouse::SpawnBlocking([a] { return ReadFile(a); });
  rouse::JoinHandle<absl::StatusOr<std::string>> second =
      rouse::SpawnBlocking([b] { return ReadFile(b); });
  absl::StatusOr<std::string> text = co_await first;
  if (text.ok()) {
    second.Abort();
    co_return text;
  }
  co_return co_await second;
}

rouse::Co<absl::StatusOr<std::string>> Ask(std::string question) {
  co_return absl::StrCat("no answer to ", question);
}

// Called by a library, on a thread that the library does not own.
absl::StatusOr<std::string> AskAndWait(const std::string& question) {
  return rouse::BlockOn(rouse::Handle::Current().Spawn(Ask(question)));
}

void AppendToLog(const std::string& path, const std::string& line) {
  std::ofstream(path, std::ios::app) << line << "\n";
}

void LogLastWords(const std::string& path) {
  rouse::Handle::Current()
      .SpawnMandatoryBlocking([path] { AppendToLog(path, "bye"); })
      .Detach();
}

absl::StatusOr<rouse::Runtime> MakeRuntime() {
  return rouse::Builder::MultiThread()
      .MaxBlockingThreads(16)
      .ThreadKeepAlive(absl::Minutes(1))
      .Build();
}

int RunMain(rouse::Co<int> main) {
  absl::StatusOr<rouse::Runtime> runtime = MakeRuntime();
  if (!runtime.ok()) return EXIT_FAILURE;
  int result = runtime->BlockOn(std::move(main));
  if (!std::move(*runtime).ShutdownTimeout(absl::Seconds(5))) {
    absl::PrintF("something still blocks; leaving it behind\n");
  }
  return result;
}

absl::StatusOr<std::vector<std::string>> ReadAll(
    const std::vector<std::string>& paths) {
  rouse::scheduler::BlockingOptions options;
  options.max_threads = 4;
  options.thread_name = "reader";
  rouse::scheduler::BlockingPool::Owner pool =
      rouse::scheduler::BlockingPool::Create(options);
  std::vector<rouse::JoinHandle<absl::StatusOr<std::string>>> reads;
  for (const std::string& path : paths) {
    reads.push_back(pool->Spawn([path] { return ReadFile(path); }));
  }
  std::vector<std::string> texts;
  for (auto& read : reads) {
    absl::StatusOr<std::string> text = rouse::BlockOn(std::move(read));
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  return texts;
}

// ---- Tests.

class BlockingExamplesTest : public ::testing::Test {
 protected:
  BlockingExamplesTest() { AppendToLog(path_, "one\ntwo"); }

  static std::string Path(const std::string& name) {
    return absl::StrCat(::testing::TempDir(), "/", name);
  }

  const std::string path_ = [] {
    const std::string path =
        Path(::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove(path);
    return path;
  }();
  std::optional<rouse::Runtime> runtime_ = MakeRuntime().value();
};

TEST_F(BlockingExamplesTest, ReadsAFile) {
  EXPECT_EQ(runtime_->BlockOn(CountLines(path_)).value(), 2u);
  EXPECT_TRUE(absl::IsNotFound(
      runtime_->BlockOn(CountLines(Path("not_there"))).status()));
}

TEST_F(BlockingExamplesTest, TakesTheFirstResult) {
  EXPECT_EQ(runtime_->BlockOn(FirstOf(path_, Path("not_there"))).value(),
            "one\ntwo\n");
  EXPECT_EQ(runtime_->BlockOn(FirstOf(Path("not_there"), path_)).value(),
            "one\ntwo\n");
}

TEST_F(BlockingExamplesTest, WaitsForATask) {
  auto call = [] { return AskAndWait("why"); };
  EXPECT_EQ(runtime_->BlockOn(runtime_->SpawnBlocking(call)).value(),
            "no answer to why");
}

TEST_F(BlockingExamplesTest, WritesItsLastWords) {
  {
    const rouse::EnterGuard enter = runtime_->Enter();
    LogLastWords(path_);
  }
  runtime_.reset();
  EXPECT_EQ(ReadFile(path_).value(), "one\ntwo\nbye\n");
}

TEST_F(BlockingExamplesTest, ShutsDown) {
  auto main = []() -> rouse::Co<int> { co_return 7; };
  EXPECT_EQ(RunMain(main()), 7);
}

TEST_F(BlockingExamplesTest, ReadsWithoutARuntime) {
  EXPECT_EQ(ReadAll({path_, path_}).value(),
            (std::vector<std::string>{"one\ntwo\n", "one\ntwo\n"}));
  EXPECT_TRUE(absl::IsNotFound(ReadAll({Path("not_there")}).status()));
}

}  // namespace
