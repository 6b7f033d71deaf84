// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: permit.h
// -----------------------------------------------------------------------------
//
// Reserved places in a bounded channel: see mpsc.h.

#ifndef ROUSE_SYNC_MPSC_PERMIT_H_
#define ROUSE_SYNC_MPSC_PERMIT_H_

#include <cstddef>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/panic.h"
#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/shared.h"

namespace rouse::mpsc {

template <class T, class Core>
class BasicSender;
template <class T>
class ReserveFuture;
template <class T>
class ReserveManyFuture;
template <class T>
class ReserveOwnedFuture;

// Permit
//
// A place in a bounded channel, for one message. The destructor gives an unused
// place back. A permit can be used after the receiver's `Close()`. A sender
// must outlive the permit, and the call of `Send()`. One thread at a time may
// use a permit.
template <class T>
class [[nodiscard]] Permit {
 public:
  Permit(Permit&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  Permit& operator=(Permit&& other) noexcept {
    Permit replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    return *this;
  }
  ~Permit() {
    if (shared_ != nullptr) shared_->GiveBack(1);
  }

  // Sends `value`. Does not fail. If the receiver was destroyed the message is
  // destroyed too, at once.
  void Send(T value) && {
    ABSL_ASSERT(shared_ != nullptr);
    std::exchange(shared_, nullptr)->Publish(std::move(value));
  }

 private:
  friend class BasicSender<T, internal::Bounded>;
  friend class ReserveFuture<T>;

  explicit Permit(internal::Shared<T, internal::Bounded>* shared)
      : shared_(shared) {}

  internal::Shared<T, internal::Bounded>* shared_;  // null: used
};

// PermitBatch
//
// Places in a bounded channel, for several messages. The destructor gives the
// unused places back. In all other respects a batch is like a `Permit`.
template <class T>
class [[nodiscard]] PermitBatch {
 public:
  PermitBatch(PermitBatch&& other) noexcept
      : shared_(other.shared_), size_(std::exchange(other.size_, 0)) {}
  PermitBatch& operator=(PermitBatch&& other) noexcept {
    PermitBatch replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    std::swap(size_, replaced.size_);
    return *this;
  }
  ~PermitBatch() {
    if (size_ != 0) shared_->GiveBack(size_);
  }

  // Returns the number of places that are left.
  size_t size() const { return size_; }
  bool IsEmpty() const { return size_ == 0; }

  // Uses one place to send `value`. Panics if no place is left.
  void Send(T value) {
    if (ABSL_PREDICT_FALSE(size_ == 0)) {
      Panic("mpsc::PermitBatch::Send: no permit is left; check size() first");
    }
    --size_;
    shared_->Publish(std::move(value));
  }

 private:
  friend class BasicSender<T, internal::Bounded>;
  friend class ReserveManyFuture<T>;

  PermitBatch(internal::Shared<T, internal::Bounded>* shared, size_t size)
      : shared_(shared), size_(size) {}

  internal::Shared<T, internal::Bounded>* shared_;
  size_t size_;
};

// OwnedPermit
//
// A `Permit` together with a sender.
template <class T>
class [[nodiscard]] OwnedPermit {
 public:
  OwnedPermit(OwnedPermit&&) noexcept = default;
  OwnedPermit& operator=(OwnedPermit&& other) noexcept {
    OwnedPermit replaced(std::move(other));
    std::swap(sender_, replaced.sender_);
    return *this;
  }
  ~OwnedPermit() {
    if (sender_.shared_ != nullptr) sender_.shared_->GiveBack(1);
  }

  // Sends `value`, and returns the sender. Does not fail.
  BasicSender<T, internal::Bounded> Send(T value) && {
    ABSL_ASSERT(sender_.shared_ != nullptr);
    // The permit is used up before a waker is called, which may throw.
    BasicSender<T, internal::Bounded> sender(std::move(sender_));
    sender.shared_->Publish(std::move(value));
    return sender;
  }

  // Gives the place back, and returns the sender.
  BasicSender<T, internal::Bounded> Release() && {
    ABSL_ASSERT(sender_.shared_ != nullptr);
    // The permit is used up before a waker is called, which may throw.
    BasicSender<T, internal::Bounded> sender(std::move(sender_));
    sender.shared_->GiveBack(1);
    return sender;
  }

 private:
  friend class BasicSender<T, internal::Bounded>;
  friend class ReserveOwnedFuture<T>;

  explicit OwnedPermit(BasicSender<T, internal::Bounded> sender)
      : sender_(std::move(sender)) {}

  BasicSender<T, internal::Bounded> sender_;  // moved from: used
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_PERMIT_H_
