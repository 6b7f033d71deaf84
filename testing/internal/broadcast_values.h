// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers that the tests of broadcast share.

#ifndef ROUSE_TESTING_INTERNAL_BROADCAST_VALUES_H_
#define ROUSE_TESTING_INTERNAL_BROADCAST_VALUES_H_

#include <atomic>
#include <utility>
#include <vector>

#include "rouse/sync/broadcast.h"

namespace rouse::broadcast {

// Receives the values that are there now, until the next result is not a value.
template <class T>
std::vector<T> Drain(Receiver<T>& rx) {
  std::vector<T> values;
  for (;;) {
    Received<T> received = rx.TryReceive();
    if (!received.has_value()) return values;
    values.push_back(*std::move(received));
  }
}

// Counts of live objects and of copies, in an object that the test provides.
struct Counts {
  std::atomic<int> live{0};
  std::atomic<int> copies{0};
};
class Counted {
 public:
  Counted(Counts& counts, int value) : counts_(&counts), value_(value) {
    ++counts_->live;
  }
  Counted(const Counted& other) : counts_(other.counts_), value_(other.value_) {
    ++counts_->live;
    ++counts_->copies;
  }
  Counted(Counted&& other) noexcept
      : counts_(other.counts_), value_(std::exchange(other.value_, -1)) {
    ++counts_->live;
  }
  Counted& operator=(Counted&& other) noexcept {
    value_ = std::exchange(other.value_, -1);
    return *this;
  }
  ~Counted() { --counts_->live; }

  int value() const { return value_; }

 private:
  Counts* counts_;
  int value_;
};

}  // namespace rouse::broadcast

#endif  // ROUSE_TESTING_INTERNAL_BROADCAST_VALUES_H_
