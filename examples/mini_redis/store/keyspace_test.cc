// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/keyspace.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/examples/mini_redis/store/store.h"
#include "rouse/future/co.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace mini_redis {
namespace {

using ::testing::ElementsAre;

class KeyspaceTest : public testing::Test {
 protected:
  KeyspaceTest() {
    keyspace_.SetOnExpired([this](size_t db, std::string_view key) {
      expired_.push_back(absl::StrCat(db, ":", key));
    });
  }

  void Set(std::string_view key, std::string_view value) {
    keyspace_.FindOrInsert(0, key).entry.SetString(value);
  }
  void ExpireIn(std::string_view key, absl::Duration ttl) {
    keyspace_.SetDeadline(0, key, *keyspace_.Find(0, key),
                          keyspace_.Now() + ttl);
  }
  void Advance(absl::Duration time) {
    (void)runtime_.BlockOn(rouse::Advance(time));
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
  Keyspace keyspace_{runtime_.handle().timer()};
  std::vector<std::string> expired_;
};

TEST_F(KeyspaceTest, FindsWhatWasInserted) {
  EXPECT_EQ(keyspace_.Find(0, "a"), nullptr);
  Set("a", "1");
  ASSERT_NE(keyspace_.Find(0, "a"), nullptr);
  EXPECT_EQ(*keyspace_.Find(0, "a")->string(), "1");
  EXPECT_EQ(keyspace_.Find(1, "a"), nullptr);
  EXPECT_FALSE(keyspace_.FindOrInsert(0, "a").inserted);
  EXPECT_EQ(keyspace_.Size(0), 1u);
}

TEST_F(KeyspaceTest, ErasesAndClears) {
  Set("a", "1");
  Set("b", "1");
  ExpireIn("b", absl::Seconds(1));
  EXPECT_TRUE(keyspace_.Erase(0, "a"));
  EXPECT_FALSE(keyspace_.Erase(0, "a"));
  EXPECT_EQ(keyspace_.ExpiringSize(0), 1u);
  keyspace_.Clear(0);
  EXPECT_EQ(keyspace_.Size(0), 0u);
  EXPECT_EQ(keyspace_.ExpiringSize(0), 0u);
  EXPECT_TRUE(expired_.empty());
}

TEST_F(KeyspaceTest, ExpiresAtTheDeadlineWithoutATask) {
  Set("a", "1");
  ExpireIn("a", absl::Seconds(10));
  Advance(absl::Seconds(10) - absl::Milliseconds(1));
  EXPECT_NE(keyspace_.Find(0, "a"), nullptr);
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(keyspace_.Size(0), 1u);
  EXPECT_EQ(keyspace_.Find(0, "a"), nullptr);
  EXPECT_EQ(keyspace_.Size(0), 0u);
  EXPECT_THAT(expired_, ElementsAre("0:a"));
}

TEST_F(KeyspaceTest, DoesNotExpireWhileHeld) {
  Set("a", "1");
  ExpireIn("a", absl::Seconds(1));
  keyspace_.HoldExpiry(true);
  Advance(absl::Seconds(2));
  EXPECT_NE(keyspace_.Find(0, "a"), nullptr);
  keyspace_.HoldExpiry(false);
  EXPECT_EQ(keyspace_.Find(0, "a"), nullptr);
}

TEST_F(KeyspaceTest, ForgetsADeadline) {
  Set("a", "1");
  ExpireIn("a", absl::Seconds(1));
  EXPECT_TRUE(keyspace_.ClearDeadline(0, *keyspace_.Find(0, "a")));
  EXPECT_FALSE(keyspace_.ClearDeadline(0, *keyspace_.Find(0, "a")));
  Advance(absl::Seconds(2));
  EXPECT_NE(keyspace_.Find(0, "a"), nullptr);
  EXPECT_EQ(keyspace_.ExpiringSize(0), 0u);
}

TEST_F(KeyspaceTest, ConvertsTimesToUnixMillisAndBack) {
  const int64_t millis = keyspace_.ToUnixMillis(keyspace_.Now());
  // The clock of the system moves between the two conversions.
  EXPECT_LE(
      absl::AbsDuration(keyspace_.FromUnixMillis(millis) - keyspace_.Now()),
      absl::Minutes(1));
}

// Keys that exist during the whole scan are found, whatever happens to others.
TEST_F(KeyspaceTest, ScanFindsEveryKeyThatStays) {
  constexpr int kKeys = 5000;
  for (int i = 0; i < kKeys; ++i) {
    Set(absl::StrCat("stays", i), "1");
    Set(absl::StrCat("goes", i), "1");
  }
  std::set<std::string> found;
  size_t cursor = 0;
  int calls = 0;
  do {
    cursor = keyspace_.Scan(
        0, cursor, 10,
        [&found](std::string_view key, const Entry&) { found.emplace(key); });
    (void)keyspace_.Erase(0, absl::StrCat("goes", calls));
    for (int i = 0; i < 20; ++i) Set(absl::StrCat("new", calls, "-", i), "1");
    ++calls;
  } while (cursor != 0);
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_TRUE(found.contains(absl::StrCat("stays", i))) << i;
  }
  EXPECT_GT(calls, 100);
}

TEST(Store, ExpiresKeysWhenTheirDeadlinesCome) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  Store store(runtime.handle().timer(), /*log=*/nullptr);
  runtime.BlockOn([&store]() -> rouse::Co<> {
    rouse::JoinHandle<void> task = rouse::Spawn(store.ExpireKeys());
    // The task waits before the first deadline is set.
    (void)co_await rouse::Advance(absl::Seconds(1));
    auto size = [&store] {
      const absl::MutexLock lock(&store.mu());
      return store.keyspace().Size(0);
    };
    {
      const absl::MutexLock lock(&store.mu());
      Keyspace& keyspace = store.keyspace();
      for (int i = 1; i <= 3; ++i) {
        const std::string key = absl::StrCat(i);
        Entry& entry = keyspace.FindOrInsert(0, key).entry;
        keyspace.SetDeadline(0, key, entry, keyspace.Now() + absl::Seconds(i));
      }
    }
    for (size_t left = 3; left > 0; --left) {
      EXPECT_EQ(size(), left);
      (void)co_await rouse::Advance(absl::Seconds(1));
    }
    EXPECT_EQ(size(), 0u);
    task.abort_handle().Abort();
    (void)co_await task;
  });
}

}  // namespace
}  // namespace mini_redis
