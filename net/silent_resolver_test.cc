// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests lookups of names for which the system does not answer.

#include <netdb.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/net/lookup_host.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/timeout.h"

namespace {

ABSL_CONST_INIT absl::Mutex mu(absl::kConstInit);
ABSL_CONST_INIT bool answers ABSL_GUARDED_BY(mu) = false;
ABSL_CONST_INIT size_t asked ABSL_GUARDED_BY(mu) = 0;
ABSL_CONST_INIT size_t waiting ABSL_GUARDED_BY(mu) = 0;

}  // namespace

// Replaces the system's function: blocks until `answers` is set, and then
// reports that the name does not exist.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo*,
                           addrinfo**) {
  const absl::MutexLock lock(&mu);
  ++asked;
  ++waiting;
  mu.Await(absl::Condition(&answers));
  --waiting;
  return EAI_NONAME;
}

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

class SilentResolverTest : public ::testing::Test {
 protected:
  SilentResolverTest() {
    const absl::MutexLock lock(&mu);
    answers = false;
    asked = 0;
  }
  // The threads belong to a runtime that was destroyed.
  ~SilentResolverTest() override {
    const absl::MutexLock lock(&mu);
    answers = true;
    const auto none = []() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
      return waiting == 0;
    };
    mu.Await(absl::Condition(&none));
  }

  static Runtime MakeRuntime() {
    absl::StatusOr<Runtime> runtime =
        Builder::MultiThread().WorkerThreads(2).Build();
    EXPECT_THAT(runtime, IsOk());
    return *std::move(runtime);
  }

  // Looks up `count` names, each with a short timeout.
  static Co<> LookUp(int count) {
    std::vector<JoinHandle<absl::Status>> tasks;
    for (int i = 0; i < count; ++i) {
      auto one = []() -> Co<absl::Status> {
        co_return (co_await Timeout(absl::Milliseconds(20),
                                    LookupHost("silent.test", 80)))
            .status();
      };
      tasks.push_back(Spawn(one));
    }
    for (JoinHandle<absl::Status>& task : tasks) {
      EXPECT_THAT(co_await task, StatusIs(absl::StatusCode::kDeadlineExceeded));
    }
  }

  static size_t Asked() {
    const absl::MutexLock lock(&mu);
    return asked;
  }
};

TEST_F(SilentResolverTest, TakesNoThreadsFromBlockingCalls) {
  Runtime runtime = MakeRuntime();
  runtime.BlockOn(LookUp(600));
  EXPECT_LE(Asked(), 64u);
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.lookups.threads, 64u);
  EXPECT_EQ(metrics.blocking.threads, 0u);
  // Runs the maximum number of blocking calls concurrently.
  absl::Mutex calls_mu;
  int calls = 0;
  auto all_are_here = [&calls_mu, &calls] {
    const absl::MutexLock lock(&calls_mu);
    ++calls;
    const auto all = [&calls] { return calls == 32; };
    calls_mu.Await(absl::Condition(&all));
  };
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 32; ++i) {
    handles.push_back(runtime.SpawnBlocking(all_are_here));
  }
  for (JoinHandle<void>& handle : handles) {
    EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOk());
  }
}

TEST_F(SilentResolverTest, DoesNotDelayTheEndOfARuntime) {
  {
    Runtime runtime = MakeRuntime();
    runtime.BlockOn(LookUp(100));
    EXPECT_GT(Asked(), 0u);
    // The runtime ends here, although no lookup was answered.
  }
  EXPECT_LE(Asked(), 64u);
}

TEST_F(SilentResolverTest, ALookupThatWaitsForAThreadIsAnsweredEventually) {
  Runtime runtime = MakeRuntime();
  auto look_up = []() -> Co<absl::Status> {
    co_return (co_await LookupHost("late.test", 80)).status();
  };
  std::vector<JoinHandle<absl::Status>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(runtime.Spawn(look_up));
  {
    const absl::MutexLock lock(&mu);
    const auto full = []() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
      return waiting == 64;
    };
    mu.Await(absl::Condition(&full));
    answers = true;
  }
  for (JoinHandle<absl::Status>& task : tasks) {
    EXPECT_THAT(runtime.BlockOn(std::move(task)),
                StatusIs(absl::StatusCode::kNotFound));
  }
  EXPECT_EQ(Asked(), 100u);
}

}  // namespace
}  // namespace rouse
