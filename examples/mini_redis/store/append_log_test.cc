// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/append_log.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace mini_redis {
namespace {

using ::rouse::Advance;
using ::rouse::Co;
using ::rouse::JoinHandle;
using ::rouse::Spawn;
using ::testing::HasSubstr;

// A file in memory, which fails when the test says so.
class FakeFile : public LogFile {
 public:
  std::string_view path() const override { return "fake.aof"; }

  absl::StatusOr<size_t> Write(std::string_view bytes) override {
    const absl::MutexLock lock(&mu_);
    ++writes_;
    if (bytes_.size() >= room_) {
      return absl::ResourceExhaustedError("No space left on device");
    }
    bytes = bytes.substr(0, room_ - bytes_.size());
    bytes_ += bytes;
    return bytes.size();
  }

  absl::Status Flush() override {
    const absl::MutexLock lock(&mu_);
    ++flushes_;
    return flush_status_;
  }

  std::string bytes() const {
    const absl::MutexLock lock(&mu_);
    return bytes_;
  }
  int writes() const {
    const absl::MutexLock lock(&mu_);
    return writes_;
  }
  int flushes() const {
    const absl::MutexLock lock(&mu_);
    return flushes_;
  }
  void SetRoom(size_t room) {
    const absl::MutexLock lock(&mu_);
    room_ = room;
  }
  void SetFlushStatus(absl::Status status) {
    const absl::MutexLock lock(&mu_);
    flush_status_ = status;
  }

 private:
  mutable absl::Mutex mu_;
  std::string bytes_ ABSL_GUARDED_BY(mu_);
  size_t room_ ABSL_GUARDED_BY(mu_) = 1 << 20;
  int writes_ ABSL_GUARDED_BY(mu_) = 0;
  int flushes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status flush_status_ ABSL_GUARDED_BY(mu_);
};

constexpr std::string_view kSelect0 = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";
constexpr std::string_view kDelA = "*2\r\n$3\r\nDEL\r\n$1\r\na\r\n";

class AppendLogTest : public testing::Test {
 protected:
  AppendLog& Make(Fsync fsync) {
    log_ = std::make_unique<AppendLog>(file_, fsync);
    return *log_;
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
  std::shared_ptr<FakeFile> file_ = std::make_shared<FakeFile>();
  std::unique_ptr<AppendLog> log_;
};

TEST_F(AppendLogTest, WritesCommandsAndDatabases) {
  AppendLog& log = Make(Fsync::kNever);
  runtime_.BlockOn([&log]() -> Co<> {
    JoinHandle<absl::Status> run = Spawn(log.Run());
    (void)log.Append(0, {"DEL", "a"});
    (void)log.Append(0, {"DEL", "a"});
    const uint64_t end = log.Append(1, {"DEL", "a"});
    EXPECT_EQ(end, log.end());
    EXPECT_TRUE((co_await log.Confirmed(end)).ok());
    log.Close();
    EXPECT_TRUE((co_await run).ok());
  });
  EXPECT_EQ(file_->bytes(),
            absl::StrCat(kSelect0, kDelA, kDelA,
                         "*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n", kDelA));
  EXPECT_EQ(file_->bytes().size(), log.end());
  // The end flushes, whatever the policy.
  EXPECT_EQ(file_->flushes(), 1);
}

TEST_F(AppendLogTest, WritesAGroupAsATransactionAndAnEmptyGroupNotAtAll) {
  AppendLog& log = Make(Fsync::kNever);
  runtime_.BlockOn([&log]() -> Co<> {
    JoinHandle<absl::Status> run = Spawn(log.Run());
    log.BeginGroup();
    log.EndGroup();
    EXPECT_EQ(log.end(), 0u);
    log.BeginGroup();
    (void)log.Append(0, {"DEL", "a"});
    (void)log.Append(0, {"DEL", "a"});
    log.EndGroup();
    EXPECT_TRUE((co_await log.Confirmed(log.end())).ok());
    log.Close();
    EXPECT_TRUE((co_await run).ok());
  });
  EXPECT_EQ(file_->bytes(), absl::StrCat("*1\r\n$5\r\nMULTI\r\n", kSelect0,
                                         kDelA, kDelA, "*1\r\n$4\r\nEXEC\r\n"));
}

TEST_F(AppendLogTest, SharesAnFsyncAmongTheChangesThatWait) {
  AppendLog& log = Make(Fsync::kAlways);
  FakeFile& file = *file_;
  runtime_.BlockOn([&log, &file]() -> Co<> {
    constexpr int kClients = 100;
    std::vector<JoinHandle<absl::Status>> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.push_back(Spawn(log.Confirmed(log.Append(0, {"DEL", "a"}))));
    }
    JoinHandle<absl::Status> run = Spawn(log.Run());
    for (JoinHandle<absl::Status>& client : clients) {
      EXPECT_TRUE((co_await client).ok());
    }
    EXPECT_EQ(file.writes(), 1);
    EXPECT_EQ(file.flushes(), 1);
    log.Close();
    EXPECT_TRUE((co_await run).ok());
  });
}

TEST_F(AppendLogTest, FlushesEverySecondIfThereWasAChange) {
  AppendLog& log = Make(Fsync::kEverySecond);
  FakeFile& file = *file_;
  runtime_.BlockOn([&log, &file]() -> Co<> {
    JoinHandle<absl::Status> run = Spawn(log.Run());
    (void)co_await Advance(absl::Seconds(3));
    EXPECT_EQ(file.flushes(), 0);
    const uint64_t end = log.Append(0, {"DEL", "a"});
    EXPECT_TRUE((co_await log.Confirmed(end)).ok());
    EXPECT_EQ(file.flushes(), 0);
    (void)co_await Advance(absl::Seconds(1));
    EXPECT_EQ(file.flushes(), 1);
    (void)co_await Advance(absl::Seconds(5));
    EXPECT_EQ(file.flushes(), 1);
    log.Close();
    EXPECT_TRUE((co_await run).ok());
  });
}

TEST_F(AppendLogTest, TriesAgainAfterAFullDisk) {
  AppendLog& log = Make(Fsync::kAlways);
  FakeFile& file = *file_;
  file.SetRoom(10);
  runtime_.BlockOn([&log, &file]() -> Co<> {
    JoinHandle<absl::Status> run = Spawn(log.Run());
    const uint64_t end = log.Append(0, {"DEL", "a"});
    EXPECT_THAT((co_await log.Confirmed(end)).message(),
                HasSubstr("No space left"));
    EXPECT_FALSE(log.error().ok());
    EXPECT_EQ(file.bytes().size(), 10u);
    (void)co_await Advance(absl::Seconds(3));
    EXPECT_FALSE(log.error().ok());
    file.SetRoom(1000);
    (void)co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(log.error().ok());
    EXPECT_TRUE((co_await log.Confirmed(end)).ok());
    log.Close();
    EXPECT_TRUE((co_await run).ok());
  });
  // Nothing is missing, and nothing is there twice.
  EXPECT_EQ(file_->bytes(), absl::StrCat(kSelect0, kDelA));
}

TEST_F(AppendLogTest, NeverRecoversFromAFailedFlush) {
  for (const Fsync fsync : {Fsync::kAlways, Fsync::kEverySecond}) {
    AppendLog& log = Make(fsync);
    FakeFile& file = *file_;
    file.SetFlushStatus(absl::DataLossError("Input/output error"));
    runtime_.BlockOn([&log, &file]() -> Co<> {
      JoinHandle<absl::Status> run = Spawn(log.Run());
      const uint64_t first = log.Append(0, {"DEL", "a"});
      (void)co_await log.Confirmed(first);
      (void)co_await Advance(absl::Seconds(2));
      EXPECT_FALSE(log.error().ok());
      file.SetFlushStatus(absl::OkStatus());
      const uint64_t second = log.Append(0, {"DEL", "a"});
      EXPECT_FALSE((co_await log.Confirmed(second)).ok());
      (void)co_await Advance(absl::Seconds(10));
      EXPECT_FALSE(log.error().ok());
      log.Close();
      EXPECT_FALSE((co_await run).ok());
    });
  }
}

TEST_F(AppendLogTest, ReportsThatTheLastChangesCannotBeWritten) {
  AppendLog& log = Make(Fsync::kNever);
  file_->SetRoom(0);
  runtime_.BlockOn([&log]() -> Co<> {
    JoinHandle<absl::Status> run = Spawn(log.Run());
    (void)log.Append(0, {"DEL", "a"});
    log.Close();
    const absl::Status status = co_await run;
    EXPECT_THAT(status.message(), HasSubstr("No space left"));
  });
}

}  // namespace
}  // namespace mini_redis
