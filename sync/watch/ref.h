// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ref.h
// -----------------------------------------------------------------------------
//
// References to the value of a watch channel, and the block that holds the
// value: see watch.h.

#ifndef ROUSE_SYNC_WATCH_REF_H_
#define ROUSE_SYNC_WATCH_REF_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/cell.h"
#include "rouse/sync/watch/core.h"

namespace rouse::watch {

template <class T>
class Sender;
template <class T>
class Receiver;

namespace internal {

// The block that all ends share.
template <class T>
class Shared final : public Core {
 public:
  // Starts with a sender and `receivers` receivers.
  Shared(T&& initial, size_t receivers)
      : Core(receivers), value_(std::move(initial)) {}

  // Called under the lock.
  const T& value() const { return value_.Read(); }
  T& value_to_write() { return value_.Write(); }

 private:
  Cell<T> value_;
};

}  // namespace internal

// Ref
//
// A reference to the value, which is not copied. The value does not change as
// long as the `Ref` exists. Any number of `Ref`s can exist at once. Making a
// `Ref` takes two atomic operations with little contention.
//
// Keep a `Ref` only as long as the read of the value takes. A sender waits for
// all `Ref`s, and blocks its thread: therefore do not hold a `Ref` across a
// `co_await`. While a sender waits, new `Ref`s wait for the sender: therefore a
// thread with a `Ref` deadlocks on a send, and may deadlock on another borrow.
//
// Movable, not copyable. A `Ref` that was moved from can only be assigned and
// destroyed. A `Ref` must not outlive the sender or receiver that made the
// `Ref`. A `Ref` can be destroyed on any thread.
template <class T>
class [[nodiscard]] Ref {
 public:
  Ref(Ref&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)),
        shard_(other.shard_),
        has_changed_(other.has_changed_) {}
  Ref& operator=(Ref&& other) noexcept {
    Ref replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    std::swap(shard_, replaced.shard_);
    std::swap(has_changed_, replaced.has_changed_);
    return *this;
  }
  ~Ref() {
    if (shared_ != nullptr) shared_->lock().ReaderUnlock(shard_);
  }

  const T& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->value();
  }
  const T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return &shared_->value();
  }

  // Returns whether the receiver had not seen this value before. Always false
  // for a sender's `Ref`.
  bool HasChanged() const { return has_changed_; }

 private:
  friend class Sender<T>;
  friend class Receiver<T>;

  Ref(internal::Shared<T>* shared, size_t shard)
      : shared_(shared), shard_(static_cast<uint32_t>(shard)) {
    shared_->lock().ReaderLock(shard_);
  }

  internal::Shared<T>* shared_;  // null: moved from
  uint32_t shard_;
  bool has_changed_ = false;
};

}  // namespace rouse::watch

#endif  // ROUSE_SYNC_WATCH_REF_H_
