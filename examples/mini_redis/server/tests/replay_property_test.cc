// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Random commands, and the replay of their log: the replay must restore what
// the commands have made, whatever part of the last write is lost.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/commands/executor.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/examples/mini_redis/store/log_replay.h"
#include "rouse/future/co.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/paused_time.h"

namespace mini_redis {
namespace {

// The contents of a keyspace as text, by database and key.
using State = std::map<std::string, std::string>;

constexpr std::string_view kTemplates[] = {
    "SET K V",
    "SET K V NX",
    "SET K V PX 100000",
    "SET K V PX 30",
    "SET K V KEEPTTL",
    "MSET K V K V",
    "APPEND K V",
    "INCR K",
    "DECRBY K 7",
    "SET K 5",
    "DEL K K",
    "EXPIRE K 100",
    "PEXPIRE K 20",
    "PERSIST K",
    "RPUSH K V V",
    "LPUSH K V",
    "LPOP K",
    "RPOP K 2",
    "BLPOP K 0",
    "SELECT 0",
    "SELECT 3",
    "GET K",
    "FLUSHDB",
    "MULTI",
    "EXEC",
    "EXEC",
    "DISCARD",
};

class ReplayPropertyTest : public testing::TestWithParam<int> {
 protected:
  resp::Command RandomCommand() {
    std::uniform_int_distribution<size_t> pick(0, std::size(kTemplates) - 1);
    resp::Command command;
    for (std::string_view word :
         absl::StrSplit(kTemplates[pick(random_)], ' ')) {
      if (word == "K") {
        command.Add(absl::StrCat("key", random_() % 6));
      } else if (word == "V") {
        command.Add(std::string(random_() % 20, 'x') + "\r\n");
      } else {
        command.Add(word);
      }
    }
    return command;
  }

  std::shared_ptr<Service> MakeService(std::unique_ptr<AppendLog> log) {
    return std::make_shared<Service>(runtime_.handle().timer(),
                                     ServiceOptions(), std::move(log));
  }

  static State StateOf(Service& service) {
    State state;
    const absl::MutexLock lock(&service.store.mu());
    Keyspace& keyspace = service.store.keyspace();
    // The log has the deadlines in the time of the system, which the paused
    // clock does not follow. Keys that have expired in the paused time are
    // removed by now.
    keyspace.HoldExpiry(true);
    for (size_t db = 0; db < Keyspace::kDatabases; ++db) {
      keyspace.ForEach(db, [&](std::string_view key, const Entry& entry) {
        std::string text(entry.type());
        if (entry.string() != nullptr) {
          absl::StrAppend(&text, ":", *entry.string());
        } else {
          for (const std::string& element : *entry.list()) {
            absl::StrAppend(&text, ":", element);
          }
        }
        if (keyspace.Deadline(entry).has_value()) text += " expires";
        state[absl::StrCat(db, "/", key)] = text;
      });
    }
    keyspace.HoldExpiry(false);
    return state;
  }

  absl::StatusOr<State> Replay() {
    absl::StatusOr<std::shared_ptr<DiskLogFile>> file =
        DiskLogFile::Open(path_);
    if (!file.ok()) return file.status();
    const std::shared_ptr<Service> service =
        MakeService(std::make_unique<AppendLog>(*file, Fsync::kNever));
    const absl::StatusOr<Replayed> replayed = ReplayInto(*service, **file);
    if (!replayed.ok()) return replayed.status();
    // A replay logs nothing.
    EXPECT_EQ(service->log->end(), 0u);
    return StateOf(*service);
  }

  std::string Contents() const {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void Write(std::string_view bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file << bytes;
  }

  // Runs random commands with a log. Returns the state after each command, by
  // the size of the log.
  rouse::Co<std::map<uint64_t, State>> RunCommands(int count) {
    std::map<uint64_t, State> states;
    absl::StatusOr<std::shared_ptr<DiskLogFile>> file =
        DiskLogFile::Open(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    const std::shared_ptr<Service> service =
        MakeService(std::make_unique<AppendLog>(*file, Fsync::kNever));
    rouse::JoinHandle<absl::Status> writer = rouse::Spawn(service->log->Run());
    rouse::JoinHandle<void> expiry = rouse::Spawn(service->store.ExpireKeys());
    Client client(1, "", rouse::CancellationToken());
    states[0] = {};
    for (int i = 0; i < count; ++i) {
      const resp::Command command = RandomCommand();
      {
        const absl::MutexLock lock(&service->store.mu());
        Execute(*service, client, command);
        if (client.blocked.has_value()) {
          service->store.blocked_pops().Remove(client.blocked->id);
          client.blocked.reset();
        }
      }
      states[service->log->end()] = StateOf(*service);
      if (i % 10 == 0) {
        (void)co_await rouse::Advance(absl::Milliseconds(10));
        states[service->log->end()] = StateOf(*service);
      }
    }
    expiry.abort_handle().Abort();
    service->log->Close();
    EXPECT_TRUE((co_await writer).ok());
    co_return states;
  }

  const std::string path_ = testing::TempDir() + "/property.aof";
  std::mt19937 random_{static_cast<uint32_t>(GetParam())};
  rouse::Runtime runtime_ = rouse::PausedRuntime();
};

TEST_P(ReplayPropertyTest, RestoresTheStateBehindTheLastWholeCommand) {
  (void)std::remove(path_.c_str());
  const std::map<uint64_t, State> states =
      runtime_.BlockOn(RunCommands(/*count=*/150));
  const std::string bytes = Contents();
  ASSERT_EQ(bytes.size(), states.rbegin()->first);
  ASSERT_GT(states.size(), 20u);
  for (size_t size = 0; size <= bytes.size(); size += 1 + size % 89) {
    Write(bytes.substr(0, size));
    const absl::StatusOr<State> state = Replay();
    ASSERT_TRUE(state.ok()) << state.status();
    const uint64_t whole = Contents().size();
    ASSERT_LE(whole, size);
    const auto expected = states.find(whole);
    // The log can also end behind a part of a command, such as the first of
    // two removed keys, or behind SELECT: no state was recorded there.
    if (expected == states.end()) continue;
    EXPECT_EQ(*state, expected->second) << "size " << size;
  }
  Write(bytes);
  EXPECT_EQ(*Replay(), states.rbegin()->second);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayPropertyTest, testing::Range(1, 9));

}  // namespace
}  // namespace mini_redis
