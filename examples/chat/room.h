// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What all clients of the chat share.

#ifndef ROUSE_EXAMPLES_CHAT_ROOM_H_
#define ROUSE_EXAMPLES_CHAT_ROOM_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "rouse/rouse.h"

struct Message {
  std::string sender;  // does not get the message
  std::string line;
};

// Thread-safe.
struct Room {
  bool Enter(const std::string& name) {
    absl::MutexLock lock(&mu);
    return names.insert(name).second;
  }
  void Leave(const std::string& name) {
    absl::MutexLock lock(&mu);
    names.erase(name);
  }

  // Keeps this many messages for a slow client, who misses older messages.
  rouse::broadcast::Sender<Message> messages{64};
  rouse::CancellationToken stop;
  std::atomic<uint64_t> relayed{0};
  absl::Mutex mu;
  absl::flat_hash_set<std::string> names ABSL_GUARDED_BY(mu);
};

#endif  // ROUSE_EXAMPLES_CHAT_ROOM_H_
