// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/blocked_pops.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/sync/oneshot.h"

namespace mini_redis {

struct BlockedPops::Pop {
  struct Place {
    Name name;
    Queue::iterator at;
  };

  bool from_left;
  rouse::oneshot::Sender<PoppedElement> element;
  std::vector<Place> places;  // empty when served
};

BlockedPops::BlockedPops() = default;
BlockedPops::~BlockedPops() = default;

BlockedPops::Id BlockedPops::Add(
    size_t db, std::vector<std::string> keys, bool from_left,
    rouse::oneshot::Sender<PoppedElement> element) {
  auto pop =
      std::make_unique<Pop>(Pop{from_left, std::move(element), /*places=*/{}});
  for (std::string& key : keys) {
    Name name(db, std::move(key));
    std::unique_ptr<Queue>& queue = queues_[name];
    if (queue == nullptr) queue = std::make_unique<Queue>();
    const Queue::iterator at = queue->insert(queue->end(), pop.get());
    pop->places.push_back(Pop::Place{std::move(name), at});
  }
  const Id id = pop.get();
  pops_.emplace(id, std::move(pop));
  return id;
}

void BlockedPops::LeaveQueues(Pop& pop) {
  for (Pop::Place& place : pop.places) {
    const auto queue = queues_.find(place.name);
    queue->second->erase(place.at);
    if (queue->second->empty()) queues_.erase(queue);
  }
  pop.places.clear();
}

void BlockedPops::Remove(Id id) {
  LeaveQueues(*id);
  pops_.erase(id);
}

std::vector<bool> BlockedPops::Serve(size_t db, const std::string& key,
                                     List& list) {
  std::vector<bool> popped_left;
  const Name name(db, key);
  while (!list.empty()) {
    const auto queue = queues_.find(name);
    if (queue == queues_.end()) break;
    Pop& pop = *queue->second->front();
    LeaveQueues(pop);
    std::string& element = pop.from_left ? list.front() : list.back();
    // A client that is about to leave has closed the channel. The element stays
    // for the next client.
    PoppedElement popped{key, element};
    if (!pop.element.Send(std::move(popped))) continue;
    popped_left.push_back(pop.from_left);
    if (pop.from_left) {
      list.pop_front();
    } else {
      list.pop_back();
    }
  }
  return popped_left;
}

}  // namespace mini_redis
