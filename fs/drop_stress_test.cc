// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations that are destroyed at random points, before, while and after their
// system calls run. Under AddressSanitizer, a call that used freed memory would
// end the test. Without a sanitizer, the canaries find a kernel that writes to
// freed memory.

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/fs/backend.h"
#include "rouse/fs/file.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/paths.h"
#include "rouse/fs/read_dir.h"
#include "rouse/fs/whole_file.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;

constexpr size_t kFileSize = 600'000;

// An operation of any type. Returns whether it is ready.
using AnyOperation = std::function<bool(Context&)>;

template <class F, class Check>
AnyOperation Erase(F future, Check check) {
  return [future = std::make_shared<std::optional<F>>(std::move(future)),
          check](Context& cx) {
    if (!future->has_value()) return true;
    auto result = (*future)->Poll(cx);
    if (result.IsPending()) return false;
    check(*result);
    future->reset();
    return true;
  };
}

class DropStress {
 public:
  DropStress(std::string folder, File file, uint64_t seed)
      : folder_(std::move(folder)), file_(std::move(file)), rand_(seed) {}

  // Begins, polls or destroys an operation.
  void Step(Context& cx) {
    if (operations_.size() < 24 && rand_.Below(3) == 0) {
      operations_.push_back(Begin());
      return;
    }
    if (operations_.empty()) return;
    const size_t i = rand_.Below(static_cast<uint32_t>(operations_.size()));
    if (rand_.Below(3) > 0 && !operations_[i](cx)) return;
    operations_.erase(operations_.begin() + static_cast<ptrdiff_t>(i));
    // Takes the memory, if it is free.
    canaries_.emplace_back(1 + rand_.Below(kFileSize / 4), 'c');
    if (canaries_.size() > 16) TakeCanary();
  }

  void Finish() {
    operations_.clear();
    while (!canaries_.empty()) TakeCanary();
  }

 private:
  void TakeCanary() {
    EXPECT_EQ(canaries_.front().find_first_not_of('c'), std::string::npos);
    canaries_.pop_front();
  }

  AnyOperation Begin() {
    const uint64_t offset = rand_.Below(kFileSize);
    const size_t size = 1 + rand_.Below(rand_.Below(2) == 0 ? 4096 : kFileSize);
    const size_t left = kFileSize - offset;
    const auto is_ok = [](const auto& result) { EXPECT_THAT(result, IsOk()); };
    const auto ignore = [](const auto&) {};
    switch (rand_.Below(10)) {
      case 0:
      case 1:
      case 2:
        // Without this, most reads would be ready in their first poll.
        (void)posix_fadvise(file_.fd(), 0, 0, POSIX_FADV_DONTNEED);
        return Erase(file_.ReadAt(offset, size), [=](const auto& result) {
          ASSERT_THAT(result, IsOk());
          EXPECT_EQ(result->size(), std::min(size, left));
          EXPECT_EQ(result->find_first_not_of('x'), std::string::npos);
        });
      case 3:
      case 4:
        return Erase(
            file_.WriteAt(offset, std::string(std::min(size, left), 'x')),
            is_ok);
      case 5:
        return rand_.Below(2) == 0 ? Erase(file_.Sync(), is_ok)
                                   : Erase(file_.SyncData(), is_ok);
      case 6:
        return Erase(ReadFile(file_.path()), [](const auto& result) {
          ASSERT_THAT(result, IsOk());
          EXPECT_EQ(*result, std::string(kFileSize, 'x'));
        });
      case 7:
        return Erase(WriteFileAtomically(folder_ + "/whole",
                                         std::string(1 + size / 8, 'w')),
                     is_ok);
      case 8:
        return Erase(CopyFile(file_.path(), folder_ + "/copy"), ignore);
      default:
        return Erase(File::Open(file_.path()), is_ok);
    }
  }

  std::string folder_;
  File file_;
  FastRand rand_;
  std::vector<AnyOperation> operations_;
  std::deque<std::string> canaries_;
};

Co<> Drive(std::string folder, File file, uint64_t seed, absl::Time end) {
  DropStress stress(std::move(folder), std::move(file), seed);
  // The operations need no wakes, because the test polls them at random.
  const Waker waker;
  do {
    for (int i = 0; i < 20; ++i) {
      Context cx(waker);
      stress.Step(cx);
    }
    co_await Yield();
  } while (absl::Now() < end);
  stress.Finish();
}

class DropStressTest : public FsTest,
                       public ::testing::WithParamInterface<bool> {};

TEST_P(DropStressTest, OperationsWriteOnlyToTheirOwnMemory) {
  Put("file", std::string(kFileSize, 'x'));
  FastRand rand(StressSeed());
  const absl::Time end = absl::Now() + StressTime(absl::Seconds(1), 2);
  {
    std::optional<Runtime> runtime =
        (GetParam() ? Builder::MultiThread() : Builder::CurrentThread())
            .WorkerThreads(2)
            .Build()
            .value();
    std::shared_ptr<Backend> backend;
    {
      const EnterGuard enter = runtime->Enter();
      if (TestBackend() != nullptr) backend = TestBackend()().value();
    }
    const File file =
        runtime
            ->BlockOn(
                File::Open(Path("file"), ForUpdate().Via(std::move(backend))))
            .value();
    const auto drive_all = [&]() -> Co<> {
      JoinSet<void> tasks;
      for (int i = 0; i < 3; ++i) {
        tasks.Spawn(Drive(folder_, file, rand.Next(), end));
      }
      for (;;) {
        auto next = tasks.Next();
        if (!(co_await std::move(next)).has_value()) break;
      }
    };
    runtime->BlockOn(drive_all());
    // Waits for calls that have begun.
    runtime.reset();
  }
  EXPECT_EQ(Get("file"), std::string(kFileSize, 'x'));
  // No temporary file is left.
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("."))
        << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Runtimes, DropStressTest, ::testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "MultiThread" : "CurrentThread";
                         });

class ReadDirDropStressTest : public FsTest {};

// Each batch is abandoned many times.
TEST_F(ReadDirDropStressTest, PollsThatAreDestroyedLoseNoEntry) {
  constexpr int kEntries = 700;
  for (int i = 0; i < kEntries; ++i) {
    Put(absl::StrCat(i), "");
  }
  FastRand rand(StressSeed());
  Runtime runtime = Builder::CurrentThread().Build().value();
  const EnterGuard enter = runtime.Enter();
  const Waker waker;
  for (int round = 0; round < 20; ++round) {
    ReadDir entries(folder_);
    const bool is_abandoned = rand.Below(4) == 0;
    int seen = 0;
    for (;;) {
      Context cx(waker);
      auto next = entries.PollNext(cx);
      if (next.IsPending()) {
        if (is_abandoned && rand.Below(100) == 0) break;
        continue;
      }
      if (!next->has_value()) break;
      ASSERT_THAT(**next, IsOk());
      ++seen;
    }
    if (!is_abandoned) {
      EXPECT_EQ(seen, kEntries);
    }
  }
}

}  // namespace
}  // namespace rouse::fs
