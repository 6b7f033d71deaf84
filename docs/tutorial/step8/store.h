// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef STORE_H_
#define STORE_H_

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/rouse.h"

using Words = std::vector<std::string>;
using Values = std::map<std::string, std::string>;

inline Words Apply(Values& values, const Words& command) {
  const bool set = command.size() == 3 && command[0] == "SET";
  const bool get = command.size() == 2 && command[0] == "GET";
  if (!set && !get) return {"ERR", "try SET key value, or GET key"};
  if (set) values[command[1]] = command[2];
  if (set) return {"OK"};
  auto found = values.find(command[1]);
  if (found == values.end()) return {"NIL"};
  return {"VALUE", found->second};
}

class Shards {
 public:
  Words Ask(const Words& command) {
    const std::string key = command.size() > 1 ? command[1] : "";
    Shard& shard = shards_[std::hash<std::string>()(key) % shards_.size()];
    absl::MutexLock lock(&shard.mu);
    Words reply = Apply(shard.values, command);
    if (reply[0] == "OK") {
      changes_.Send(Words{"CHANGED", key, command[2]}).IgnoreError();
    }
    return reply;
  }

  rouse::broadcast::Receiver<Words> Subscribe() { return changes_.Subscribe(); }

 private:
  struct Shard {
    absl::Mutex mu;
    Values values ABSL_GUARDED_BY(mu);
  };

  std::array<Shard, 16> shards_;
  rouse::broadcast::Sender<Words> changes_{64};
};

using Store = std::shared_ptr<Shards>;

inline Store StartStore() { return std::make_shared<Shards>(); }

#endif  // STORE_H_
