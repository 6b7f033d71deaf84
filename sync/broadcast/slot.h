// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: slot.h
// -----------------------------------------------------------------------------
//
// One slot of the ring of a broadcast channel (broadcast.h): a value, and the
// receivers' shares in the value. Internal to `sync/`.
//
//   Slot<T> slot;
//   auto replaced = slot.Put(lap, receivers, std::move(box));  // with the lock
//   if (auto taken = slot.Take(lap)) Use(std::move(*taken).Take());  // without
//
// # The protocol
//
// A sender holds the channel's lock; a receiver holds no lock. A value has one
// share for each receiver that existed when the value was sent. A receiver
// claims one share, once. To overwrite the slot is to revoke the unclaimed
// shares.
//
//   word_ = {lap, shares}   Meaning                             Next step
//   {any, 0}                nothing can be claimed: the slot    Offer
//                           was never used, or all shares
//                           were claimed or revoked
//   {lap, n > 0}            the value of `lap`, n unclaimed     Claim: n - 1
//                                                               Revoke: {0, 0}
//
// A sender makes the steps on the left, and a receiver the steps on the right:
//
//   Revoke     word_ = {0, 0}        Claim 1  word_ is {lap, n > 0}
//   Payload    the new value         Claim 2  reads the payload
//   Offer      word_ = {lap, n}      Claim 3  word_ = {lap, n - 1}, if its lap
//                                             is still the same
//
// * If Claim 3 succeeds, Claim 2 has read the value of `lap`. Claim 2 has not
//   read an older value: Claim 1 acquires Offer's release, which comes after
//   the payload. Claim 2 has not read a newer value either: reading a newer
//   payload acquires its release, so Revoke happens before Claim 3; but Revoke
//   took all remaining shares, and left none to claim. (Without that order, a
//   load would have to return a value that is stored later, which C++20 does
//   not rule out.)
// * Each share is either claimed once or revoked, because Claim 3 and Revoke
//   are read-modify-writes of one word.
// * Therefore, if the payload is a pointer with a reference for each share, a
//   receiver that has claimed a share can safely follow the pointer as long as
//   it keeps the reference.
//
// No step waits for another thread. A receiver that copies a value does not
// delay a sender, and a sender does not delay a receiver. (If readers pinned a
// slot, as with a reader-writer lock in each slot, a sender that holds the
// channel's lock would wait for the copy constructor of a thread that may have
// been preempted.)
//
// The lap is kept in 44 bits. If a receiver takes nothing while the ring goes
// round exactly 2^44 times, the receiver takes a wrong value.

#ifndef ROUSE_SYNC_BROADCAST_SLOT_H_
#define ROUSE_SYNC_BROADCAST_SLOT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/macros.h"
#include "rouse/base/atomic.h"
#include "rouse/base/frame_pool.h"

namespace rouse::broadcast::internal {

// Claims
//
// The `word_` of the protocol.
class Claims {
 public:
  static constexpr uint64_t kMaxShares = (uint64_t{1} << 20) - 1;

  // Claims a share of the value of `lap`. Returns false if there is no share.
  // `read()` reads the payload; the payload is valid only if `Claim()` returns
  // true.
  template <class Read>
  bool Claim(uint64_t lap, Read read) {
    // Acquire pairs with the release of Offer, for the payload and the object
    // to which it points.
    uint64_t word = word_.load(std::memory_order_acquire);
    if (!HasShares(word, lap)) return false;
    read();
    // Relaxed: the load has acquired the payload of this lap. If `read()` has
    // read the payload of a later lap, it has acquired that payload.
    while (!word_.compare_exchange_weak(
        word, word - 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
      if (!HasShares(word, lap)) return false;
    }
    return true;
  }

  // All functions below are called with the channel's lock.

  // Revokes the remaining shares. Returns the number of shares that were not
  // claimed, and now cannot be claimed any more.
  uint64_t Revoke() {
    // Relaxed: the lock orders the actions of senders, and if all shares have
    // been claimed no other thread writes.
    if (!HasUnclaimed()) return 0;
    // Relaxed: the payload that is stored next is released.
    return word_.exchange(0, std::memory_order_relaxed) & kMaxShares;
  }

  // Offers `shares` shares of the value of `lap`. Called after `Revoke()`.
  void Offer(uint64_t lap, uint64_t shares) {
    // Release pairs with the acquire of Claim.
    word_.store((lap << kLapShift) | shares, std::memory_order_release);
  }

  bool HasUnclaimed() const {
    // Relaxed: the lock orders the actions of senders, and the number may
    // change at once.
    return (word_.load(std::memory_order_relaxed) & kMaxShares) != 0;
  }

 private:
  static constexpr int kLapShift = 20;

  static bool HasShares(uint64_t word, uint64_t lap) {
    return (word & kMaxShares) != 0 &&
           ((word ^ (lap << kLapShift)) >> kLapShift) == 0;
  }

  Atomic<uint64_t> word_{0};
};

// -----------------------------------------------------------------------------
// Values in boxes
// -----------------------------------------------------------------------------

// Box
//
// A value with references: one reference for each share in the value. In a box,
// the value has a place of its own. Therefore the value is destroyed when the
// last receiver has received it, and not only when the ring comes round. In
// addition, no constructor or destructor of `T` runs under the channel's lock.
template <class T>
class Box {
 public:
  template <class U>
  explicit Box(std::in_place_t, U&& value) : value_(std::forward<U>(value)) {}
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  T& value() { return value_; }

  // Sets the number of references. Called before any other thread has a
  // reference.
  void SetReferences(uint64_t references) {
    // Relaxed: Offer releases the number.
    references_.store(references, std::memory_order_relaxed);
  }

  // Returns whether there is no reference except the caller's `own`.
  bool IsSole(uint64_t own = 1) const {
    // Acquire pairs with the releases of Unref: all uses of the value by other
    // threads come before.
    return references_.load(std::memory_order_acquire) == own;
  }

  static void Unref(Box* box, uint64_t references) {
    // Acquire and release: the last holder has acquired from all others.
    if (box->IsSole(references) ||
        box->references_.fetch_sub(references, std::memory_order_acq_rel) ==
            references) {
      delete box;
    }
  }

#ifndef ROUSE_MODEL  // in models the pool would multiply the channel's steps
  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* box, size_t size) {
    FramePool::Free(box, size);
  }
  static void* operator new(size_t size, std::align_val_t alignment) {
    return ::operator new(size, alignment);
  }
  static void operator delete(void* box, size_t size,
                              std::align_val_t alignment) {
    ::operator delete(box, size, alignment);
  }
#endif

 private:
  Atomic<uint64_t> references_{0};
  T value_;
};

// BoxRef
//
// Zero or more references to one box.
template <class T>
class BoxRef {
 public:
  BoxRef() = default;
  BoxRef(Box<T>* box, uint64_t references)
      : box_(box), references_(references) {}
  BoxRef(BoxRef&& other) noexcept
      : box_(other.box_), references_(std::exchange(other.references_, 0)) {}
  BoxRef& operator=(BoxRef&& other) noexcept {
    std::swap(box_, other.box_);
    std::swap(references_, other.references_);
    return *this;
  }
  ~BoxRef() {
    if (references_ != 0) Box<T>::Unref(box_, references_);
  }

  // Returns the value itself if no other receiver will get it, or else a copy.
  T Take() && {
    const BoxRef ref = std::move(*this);
    if (ref.box_->IsSole()) return std::move(ref.box_->value());
    return std::as_const(ref.box_->value());
  }

 private:
  Box<T>* box_ = nullptr;
  uint64_t references_ = 0;
};

// BoxedSlot
template <class T>
class BoxedSlot {
 public:
  using Message = std::unique_ptr<Box<T>>;
  using Replaced = BoxRef<T>;

  template <class U>
  static Message Wrap(U&& value) {
    return std::make_unique<Box<T>>(std::in_place, std::forward<U>(value));
  }

  // Stores `message` in the slot. Called with the lock. Destroy the result
  // without the lock.
  Replaced Put(uint64_t lap, uint64_t receivers, Message message) {
    // Relaxed: the lock orders the actions of senders.
    Replaced replaced(box_.load(std::memory_order_relaxed), claims_.Revoke());
    message->SetReferences(receivers);
    // Release pairs with the acquire of Take: see the protocol.
    box_.store(message.release(), std::memory_order_release);
    claims_.Offer(lap, receivers);
    return replaced;
  }

  std::optional<BoxRef<T>> Take(uint64_t lap) {
    Box<T>* box;
    const bool claimed = claims_.Claim(lap, [&] {
      // Acquire pairs with the release of Put.
      box = box_.load(std::memory_order_acquire);
    });
    if (!claimed) return std::nullopt;
    ABSL_ASSERT(box != nullptr);
    return BoxRef<T>(box, 1);
  }

  bool HasUnclaimed() const { return claims_.HasUnclaimed(); }

 private:
  Claims claims_;
  Atomic<Box<T>*> box_{nullptr};
};

// -----------------------------------------------------------------------------
// Values in the ring
// -----------------------------------------------------------------------------

// PlainValue
template <class T>
class PlainValue {
 public:
  explicit PlainValue(const T& value) : value_(value) {}
  const T& Take() && { return value_; }

 private:
  T value_;
};

// PlainSlot
//
// A slot for small, trivially copyable values. The value itself is the payload.
// There is no allocation, and a receiver writes only one word of shared memory.
template <class T>
class PlainSlot {
 public:
  using Message = T;
  struct Replaced {};

  static T Wrap(const T& value) { return value; }

  Replaced Put(uint64_t lap, uint64_t receivers, const T& value) {
    std::array<uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof(T));
    static_cast<void>(claims_.Revoke());
    for (size_t i = 0; i < kWords; ++i) {
      // Release pairs with the acquire of Take: see the protocol.
      words_[i].store(words[i], std::memory_order_release);
    }
    claims_.Offer(lap, receivers);
    return {};
  }

  std::optional<PlainValue<T>> Take(uint64_t lap) {
    std::array<uint64_t, kWords> words;
    const bool claimed = claims_.Claim(lap, [&] {
      for (size_t i = 0; i < kWords; ++i) {
        // Acquire pairs with the release of Put.
        words[i] = words_[i].load(std::memory_order_acquire);
      }
    });
    if (!claimed) return std::nullopt;
    alignas(T) std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), words.data(), sizeof(T));
    return PlainValue<T>(*std::launder(reinterpret_cast<T*>(bytes.data())));
  }

  bool HasUnclaimed() const { return claims_.HasUnclaimed(); }

 private:
  static constexpr size_t kWords = (sizeof(T) + 7) / 8;

  Claims claims_;
  std::array<Atomic<uint64_t>, kWords> words_{};
};

// True if a `T` is kept in the ring.
template <class T>
inline constexpr bool kIsPlain =
    std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(uint64_t);

template <class T>
using Slot = std::conditional_t<kIsPlain<T>, PlainSlot<T>, BoxedSlot<T>>;

}  // namespace rouse::broadcast::internal

#endif  // ROUSE_SYNC_BROADCAST_SLOT_H_
