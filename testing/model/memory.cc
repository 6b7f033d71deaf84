// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/memory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {
namespace {

bool Acquires(std::memory_order order) {
  return order == std::memory_order_acquire ||
         order == std::memory_order_consume ||
         order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

bool Releases(std::memory_order order) {
  return order == std::memory_order_release ||
         order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

void Memory::Clear() {
  location_count_ = 0;
  for (ThreadViews& views : threads_) {
    views.current.Clear();
    views.acquired.Clear();
    views.released.Clear();
  }
  global_.Clear();
}

int Memory::NewLocation(uint64_t value) {
  if (location_count_ == static_cast<int>(locations_.size())) {
    locations_.emplace_back();
  }
  Location& location = locations_[location_count_];
  location.count = 1;
  if (location.messages.empty()) location.messages.emplace_back();
  Message& initial = location.messages[0];
  initial.value = value;
  initial.view.Clear();
  initial.read_by_rmw = -1;
  initial.step = -1;
  initial.thread = -1;
  location.order.assign(1, 0);
  location.position.assign(1, 0);
  return location_count_++;
}

void Memory::StartThread(int thread, int parent) {
  ThreadViews& views = threads_[thread];
  views.current = threads_[parent].current;
  views.acquired = views.current;
  views.released.Clear();
}

void Memory::JoinThread(int joiner, int thread) {
  Join(threads_[joiner].current, threads_[thread].current);
  Join(threads_[joiner].acquired, threads_[thread].current);
}

int Memory::Floor(int thread, int location, std::memory_order order) const {
  const Location& at = locations_[location];
  int floor = at.position[threads_[thread].current[location]];
  if (order == std::memory_order_seq_cst) {
    floor = std::max<int>(floor, at.position[global_[location]]);
  }
  return floor;
}

bool Memory::Taken(const Location& location, int position) const {
  return location.messages[location.order[position]].read_by_rmw >= 0;
}

void Memory::Raise(View& view, int location, int message) {
  const Location& at = locations_[location];
  if (at.position[message] > at.position[view[location]]) {
    view.Set(location, static_cast<uint16_t>(message));
  }
}

void Memory::Join(View& into, const View& from) {
  for (int location = 0; location < from.size(); ++location) {
    const uint16_t message = from[location];
    if (message != 0) Raise(into, location, message);
  }
  into.happened.Join(from.happened);
}

void Memory::Read(int thread, int location, int number,
                  std::memory_order order) {
  ThreadViews& views = threads_[thread];
  const Message& message = locations_[location].messages[number];
  Raise(views.current, location, number);
  Raise(views.acquired, location, number);
  Join(views.acquired, message.view);
  if (Acquires(order)) Join(views.current, message.view);
  if (order == std::memory_order_seq_cst) Raise(global_, location, number);
}

int Memory::Write(int thread, int location, int position, uint64_t value,
                  std::memory_order order, int read) {
  Location& at = locations_[location];
  const int number = at.count++;
  if (number == static_cast<int>(at.messages.size())) {
    at.messages.emplace_back();
  }
  at.order.insert(at.order.begin() + position, static_cast<uint16_t>(number));
  at.position.resize(at.count);
  for (int i = position; i < at.count; ++i) {
    at.position[at.order[i]] = static_cast<uint16_t>(i);
  }

  ThreadViews& views = threads_[thread];
  Message& message = at.messages[number];
  message.value = value;
  message.read_by_rmw = -1;
  message.step = step;
  message.thread = thread;
  message.view = Releases(order) ? views.current : views.released;
  if (read >= 0) {
    at.messages[read].read_by_rmw = number;
    Join(message.view, at.messages[read].view);
  }
  message.view.Set(location, static_cast<uint16_t>(number));
  views.current.Set(location, static_cast<uint16_t>(number));
  Raise(views.acquired, location, number);
  if (order == std::memory_order_seq_cst) {
    global_.Set(location, static_cast<uint16_t>(number));
  }
  return number;
}

Memory::Access Memory::Load(int thread, int location, std::memory_order order,
                            Chooser choose) {
  const Location& at = locations_[location];
  const int newest = at.count - 1;
  const int number =
      at.order[newest - choose(at.count - Floor(thread, location, order))];
  Tick(thread);
  Read(thread, location, number, order);
  return {.value = at.messages[number].value, .read = number};
}

Memory::Access Memory::Store(int thread, int location, uint64_t value,
                             std::memory_order order, Chooser choose) {
  const Location& at = locations_[location];
  const int floor = Floor(thread, location, order);
  candidates_.clear();
  for (int position = at.count - 1; position >= floor; --position) {
    if (!Taken(at, position)) candidates_.push_back(position + 1);
  }
  const int position =
      candidates_[choose(static_cast<int>(candidates_.size()))];
  const int place = at.count - position;
  Tick(thread);
  const int number = Write(thread, location, position, value, order, -1);
  return {.value = value, .written = number, .place = place};
}

Memory::Access Memory::Modify(int thread, int location, std::memory_order order,
                              absl::FunctionRef<uint64_t(uint64_t)> change,
                              Chooser choose) {
  const Location& at = locations_[location];
  const int floor = Floor(thread, location, order);
  candidates_.clear();
  for (int position = at.count - 1; position >= floor; --position) {
    if (!Taken(at, position)) candidates_.push_back(position);
  }
  const int position =
      candidates_[choose(static_cast<int>(candidates_.size()))];
  const int read = at.order[position];
  const int place = at.count - (position + 1);
  const uint64_t value = at.messages[read].value;
  Tick(thread);
  Read(thread, location, read, order);
  const uint64_t stored = change(value);
  const int number = Write(thread, location, position + 1, stored, order, read);
  return {.value = value,
          .stored = stored,
          .read = read,
          .written = number,
          .place = place};
}

Memory::Access Memory::CompareExchange(int thread, int location,
                                       uint64_t expected, uint64_t desired,
                                       std::memory_order success,
                                       std::memory_order failure, bool spurious,
                                       Chooser choose) {
  const Location& at = locations_[location];
  // The global view bounds only an outcome that is sequentially consistent.
  const int success_floor = Floor(thread, location, success);
  const int failure_floor = Floor(thread, location, failure);
  candidates_.clear();
  for (int position = at.count - 1;
       position >= std::min(success_floor, failure_floor); --position) {
    const Message& message = at.messages[at.order[position]];
    if (message.value == expected) {
      if (position >= success_floor && !Taken(at, position)) {
        candidates_.push_back(position);
      }
    } else if (position >= failure_floor) {
      candidates_.push_back(position);
    }
  }
  const size_t strong = candidates_.size();
  if (spurious) {
    for (int position = at.count - 1; position >= failure_floor; --position) {
      if (at.messages[at.order[position]].value == expected) {
        candidates_.push_back(position);
      }
    }
  }
  const size_t chosen = choose(static_cast<int>(candidates_.size()));
  const int position = candidates_[chosen];
  const int read = at.order[position];
  const uint64_t value = at.messages[read].value;
  Tick(thread);
  if (value != expected || chosen >= strong) {
    Read(thread, location, read, failure);
    return {.value = value, .read = read};
  }
  const int place = at.count - (position + 1);
  Read(thread, location, read, success);
  const int number =
      Write(thread, location, position + 1, desired, success, read);
  return {.value = value,
          .stored = desired,
          .read = read,
          .written = number,
          .place = place};
}

Memory::Access Memory::LoadToCompare(int thread, int location,
                                     uint64_t expected, std::memory_order match,
                                     std::memory_order differ, Chooser choose) {
  const Location& at = locations_[location];
  const int match_floor = Floor(thread, location, match);
  const int differ_floor = Floor(thread, location, differ);
  candidates_.clear();
  for (int position = at.count - 1;
       position >= std::min(match_floor, differ_floor); --position) {
    const bool matches = at.messages[at.order[position]].value == expected;
    if (position >= (matches ? match_floor : differ_floor)) {
      candidates_.push_back(position);
    }
  }
  const int read =
      at.order[candidates_[choose(static_cast<int>(candidates_.size()))]];
  const uint64_t value = at.messages[read].value;
  Tick(thread);
  Read(thread, location, read, value == expected ? match : differ);
  return {.value = value, .read = read};
}

void Memory::Fence(int thread, std::memory_order order) {
  ThreadViews& views = threads_[thread];
  if (Acquires(order)) Join(views.current, views.acquired);
  if (order == std::memory_order_seq_cst) {
    // The fence joins the views, but not the clocks: it synchronizes with
    // nothing.
    const VectorClock happened = views.current.happened;
    Join(views.current, global_);
    views.current.happened = happened;
    Join(global_, views.current);
    Join(views.acquired, views.current);
  }
  if (Releases(order)) views.released = views.current;
  Tick(thread);
}

void Memory::FenceAll(ThreadSet threads) {
  // In the second round, every thread joins a global view that includes the
  // stores of all threads.
  for (int round = 0; round < 2; ++round) {
    for (int thread = 0; thread < kMaxThreads; ++thread) {
      if (!threads.Contains(thread)) continue;
      View& current = threads_[thread].current;
      const VectorClock happened = current.happened;
      Join(current, global_);
      current.happened = happened;
      Join(global_, current);
      Join(threads_[thread].acquired, current);
    }
  }
}

uint64_t Memory::Newest(int location) const {
  const Location& at = locations_[location];
  return at.messages[at.order[at.count - 1]].value;
}

int Memory::News(int thread, int location, uint64_t value) const {
  const Location& at = locations_[location];
  int position = at.position[threads_[thread].current[location]];
  for (; position < at.count; ++position) {
    if (at.messages[at.order[position]].value != value) {
      return at.order[position];
    }
  }
  return -1;
}

bool Memory::CanAdvance(int thread, int location, uint64_t value) const {
  return News(thread, location, value) >= 0;
}

void Memory::Advance(int thread, int location, uint64_t value) {
  const int news = News(thread, location, value);
  if (news < 0) return;
  Raise(threads_[thread].current, location, news);
  Raise(threads_[thread].acquired, location, news);
}

void Memory::Publish(int thread, View& into, bool happens) {
  const VectorClock before = into.happened;
  Tick(thread);
  Join(into, threads_[thread].current);
  if (!happens) into.happened = before;
}

void Memory::Subscribe(int thread, const View& from, bool happens) {
  ThreadViews& views = threads_[thread];
  const VectorClock before = views.current.happened;
  Join(views.current, from);
  Join(views.acquired, from);
  if (!happens) views.current.happened = before;
  Tick(thread);
}

}  // namespace rouse::model
