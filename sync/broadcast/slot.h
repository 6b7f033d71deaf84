// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: slot.h
// -----------------------------------------------------------------------------
//
// One slot of a broadcast channel's ring (broadcast.h): a value, and the shares
// that receivers have in it. Internal to `sync/`.
//
//   Slot<T> slot;
//   auto replaced = slot.Put(lap, receivers, std::move(box));  // with the lock
//   if (auto taken = slot.Take(lap)) Use(std::move(*taken).Take());  // without
//
// # The protocol
//
// Who sends has the channel's lock; who receives has no lock. A value has as
// many shares as there were receivers when it was sent. A receiver claims one,
// once. To overwrite the slot is to revoke what was not claimed.
//
//   word_ = {lap, shares}   what it says                        goes on to
//   {any, 0}                nothing to be claimed: never used,  Offer
//                           all has been claimed, or revoked
//   {lap, n > 0}            the value of `lap`, n unclaimed     Claim: n - 1
//                                                               Revoke: {0, 0}
//
// A sender makes these steps, and a receiver those beside them:
//
//   Revoke     word_ = {0, 0}        Claim 1  word_ is {lap, n > 0}
//   Payload    the new value         Claim 2  reads the payload
//   Offer      word_ = {lap, n}      Claim 3  word_ = {lap, n - 1}, if its lap
//                                             is still the same
//
// *  What Claim 2 has read is the value of `lap` if Claim 3 succeeds. It is not
//    an older one: Claim 1 acquires Offer's release, which comes after the
//    payload. Nor a newer one: to read that is to acquire what released it, so
//    that Revoke happens before Claim 3; but Revoke took what was left, and has
//    left none to claim. (Without that order it would take a load that returns
//    what is stored later, which C++20 does not rule out.)
// *  Each share is claimed once or revoked, since Claim 3 and Revoke are
//    read-modify-writes of one word.
// *  So a payload that is a pointer with a reference for each share is safe to
//    follow for who has claimed one, for as long as he keeps the reference.
//
// No step waits for another thread: a sender is not held up by a receiver that
// copies a value, nor a receiver by a sender. (Where a reader pins a slot, as
// with a reader-writer lock in each, a sender waits, with the channel's lock,
// for the copy constructor of a thread that may have been preempted.)
//
// The lap is kept in 44 bits: a receiver that takes nothing while the ring
// comes round 2^44 times, neither once more nor less, takes a value for another
// one.

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
// `word_` of the protocol.
class Claims {
 public:
  static constexpr uint64_t kMaxShares = (uint64_t{1} << 20) - 1;

  // Claims a share of the value of `lap`; false if there is none. `read()`
  // reads the payload; what it has read counts if this is true.
  template <class Read>
  bool Claim(uint64_t lap, Read read) {
    // Acquire pairs with the release of Offer: the payload, and what it points
    // to.
    uint64_t word = word_.load(std::memory_order_acquire);
    if (!HasShares(word, lap)) return false;
    read();
    // Relaxed: the load has acquired what is of this lap, and `read()` what
    // is of a later one.
    while (!word_.compare_exchange_weak(
        word, word - 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
      if (!HasShares(word, lap)) return false;
    }
    return true;
  }

  // The other functions: with the channel's lock.

  // Returns how many shares of the value were not claimed, and cannot be now.
  uint64_t Revoke() {
    // Relaxed: the lock orders what senders do, and if all shares have been
    // claimed nobody else writes.
    if (!HasUnclaimed()) return 0;
    // Relaxed: what is put into the payload next is released.
    return word_.exchange(0, std::memory_order_relaxed) & kMaxShares;
  }

  // After `Revoke()`.
  void Offer(uint64_t lap, uint64_t shares) {
    // Release pairs with the acquire of Claim.
    word_.store((lap << kLapShift) | shares, std::memory_order_release);
  }

  bool HasUnclaimed() const {
    // Relaxed: as in Revoke; and it may be another number at once.
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
// A value, with references: one for each share in it. In a box it has a place
// of its own, so that it goes when the last receiver has had it, and not when
// the ring comes round; and no constructor or destructor of `T` runs under the
// channel's lock.
template <class T>
class Box {
 public:
  template <class U>
  explicit Box(std::in_place_t, U&& value) : value_(std::forward<U>(value)) {}
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  T& value() { return value_; }

  // Before anybody else has a reference.
  void SetReferences(uint64_t references) {
    // Relaxed: Offer releases it.
    references_.store(references, std::memory_order_relaxed);
  }

  // Whether there is no other reference than the caller's `own`.
  bool IsSole(uint64_t own = 1) const {
    // Acquire pairs with the releases of Unref: all use of the value by others
    // comes before.
    return references_.load(std::memory_order_acquire) == own;
  }

  static void Unref(Box* box, uint64_t references) {
    // Acquire and release: the one who was last has acquired from all others.
    if (box->IsSole(references) ||
        box->references_.fetch_sub(references, std::memory_order_acq_rel) ==
            references) {
      delete box;
    }
  }

#ifndef ROUSE_MODEL  // where the pool's own steps would multiply a channel's
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
// Some references to one box, or none.
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

  // The value: itself, if nobody else will have it, or a copy.
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

  // With the lock. What comes back goes without it.
  Replaced Put(uint64_t lap, uint64_t receivers, Message message) {
    // Relaxed: the lock orders what senders do.
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
// What is small and is copied as bytes is itself the payload: no allocation,
// and of shared memory a receiver writes one word.
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

// Whether a value is kept in the ring.
template <class T>
inline constexpr bool kIsPlain =
    std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(uint64_t);

template <class T>
using Slot = std::conditional_t<kIsPlain<T>, PlainSlot<T>, BoxedSlot<T>>;

}  // namespace rouse::broadcast::internal

#endif  // ROUSE_SYNC_BROADCAST_SLOT_H_
