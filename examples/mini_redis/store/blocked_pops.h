// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: blocked_pops.h
// -----------------------------------------------------------------------------
//
// The clients that wait for an element of a list, as BLPOP does.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_BLOCKED_POPS_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_BLOCKED_POPS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/sync/oneshot.h"

namespace mini_redis {

// An element that a waiting client gets, and the key of the element's list.
struct PoppedElement {
  std::string key;
  std::string element;
};

// BlockedPops
//
// For each key, a queue of the clients that wait, in the order in which they
// began to wait. Used by a single thread at a time: `Store` has the lock.
class BlockedPops {
 private:
  using Name = std::pair<size_t, std::string>;  // database and key
  struct Pop;
  using Queue = std::list<Pop*>;

 public:
  // A client's place in all queues of the client's keys.
  using Id = Pop*;

  BlockedPops();
  BlockedPops(const BlockedPops&) = delete;
  BlockedPops& operator=(const BlockedPops&) = delete;
  ~BlockedPops();

  // Appends a client to the queue of each key. The receiver of `element` gets
  // the first element of any of the lists. Returns the client's place, which
  // exists until `Remove()`.
  Id Add(size_t db, std::vector<std::string> keys, bool from_left,
         rouse::oneshot::Sender<PoppedElement> element);

  // Removes a client, whether the client was served or not.
  void Remove(Id id);

  // Gives the elements of `list`, one after another, to the clients that wait
  // for `key`. Returns for each element whether the left end was popped. The
  // caller removes a list that is empty afterwards.
  std::vector<bool> Serve(size_t db, const std::string& key, List& list);

  // Returns the number of waiting clients.
  size_t size() const { return pops_.size(); }

 private:
  void LeaveQueues(Pop& pop);

  // Includes clients that were served and not removed yet.
  absl::flat_hash_map<Id, std::unique_ptr<Pop>> pops_;
  absl::flat_hash_map<Name, std::unique_ptr<Queue>> queues_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_BLOCKED_POPS_H_
