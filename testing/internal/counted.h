// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: counted.h
// -----------------------------------------------------------------------------
//
// Values whose live instances a test counts, for the tests of channels.
//
//   Counts counts;
//   auto [tx, rx] = Channel<Counted>(1);
//   EXPECT_TRUE(tx.TrySend(Counted(counts)).ok());
//   EXPECT_EQ(counts.live, 1);

#ifndef ROUSE_TESTING_INTERNAL_COUNTED_H_
#define ROUSE_TESTING_INTERNAL_COUNTED_H_

#include "rouse/base/cxx20.h"

#include <atomic>
#include <utility>

namespace rouse {

// The counts of some values, in an object that the test provides and that
// outlives the values.
struct Counts {
  // Number of live instances, including those that were moved from.
  std::atomic<int> live{0};
  // Number of copies made, ever.
  std::atomic<int> copies{0};
};

// A value that can neither be copied nor assigned: the least that a channel
// requires of a type. The value of a moved-from instance is -1.
class Counted {
 public:
  explicit Counted(Counts& counts, int value = 0)
      : counts_(&counts), value_(value) {
    ++counts_->live;
  }
  Counted(Counted&& other) noexcept
      : counts_(other.counts_), value_(std::exchange(other.value_, -1)) {
    ++counts_->live;
  }
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --counts_->live; }

  int value() const { return value_; }

 protected:
  Counts& counts() const { return *counts_; }
  void TakeValueOf(Counted& other) { value_ = std::exchange(other.value_, -1); }

 private:
  Counts* counts_;
  int value_;
};

// A `Counted` that can be copied and moved by assignment, for channels with
// several receivers. (`broadcast::Sender` copies a type without assignment.)
class CopyableCounted : public Counted {
 public:
  using Counted::Counted;
  CopyableCounted(const CopyableCounted& other)
      : Counted(other.counts(), other.value()) {
    ++counts().copies;
  }
  CopyableCounted(CopyableCounted&& other) noexcept = default;
  CopyableCounted& operator=(CopyableCounted&& other) noexcept {
    TakeValueOf(other);
    return *this;
  }
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_COUNTED_H_
