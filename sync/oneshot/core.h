// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The state that the two ends of a oneshot channel share, except for the value:
// which ends are finished, how they ended, and which ends wait. Internal to
// `sync/`.
//
// # Bits
//
//   kSent               the value is in its place, and belongs to the receiver.
//                       Set together with kSenderDestroyed.
//   kSenderDestroyed    the sender no longer accesses the block.
//   kClosed             no value can be sent any more. Not set after kSent.
//   kReceiverDestroyed  the receiver no longer accesses the block. Set together
//                       with kClosed.
//   kSenderWaits        the sender's waker must be called when the channel is
//                       closed.
//   kReceiverWaits      the receiver's waker must be called when the sender is
//                       finished.
//
// The bits above are the turn, which counts how often kSenderWaits or
// kReceiverWaits was set.
//
// # Transitions
//
//   Operation     Unless             Sets                      Wakers
//   Send          Closed             Sent SenderDestroyed      takes both
//   DropSender    ReceiverDestroyed  SenderDestroyed           takes both
//   Close         SenderDestroyed,   Closed                    takes both
//                 Closed
//   DropReceiver  SenderDestroyed    Closed ReceiverDestroyed  takes both
//   WaitForClose  Closed             SenderWaits, turn + 1
//   WaitForValue  SenderDestroyed,   ReceiverWaits, turn + 1
//                 Closed
//   a new waker   (nothing)          clears the bit of the waker, to
//                                    set it again
//
// Each transition is one read-modify-write. An end that finds the other end
// destroyed is alone: the remaining end frees the block, and needs no
// read-modify-write. Therefore the send and the receive of a value together
// cost a single read-modify-write, in Send.
//
// # Who owns the value
//
// The sender owns the value until kSent is set, and the receiver owns the value
// after that. Send and Close are read-modify-writes of the same word, so they
// have an order. If Close comes first, Send changes nothing, and the receiver
// never accesses the value, which the sender takes back.
//
// # Who owns a waker
//
// A waker consists of two words, and of the reference that the words stand for.
//
//   1. Only the waiting end writes the words, and only while its bit is
//      clear.
//   2. The operation that clears the bit has the reference. Either the
//      waiting end itself clears the bit, to store another waker or to stop
//      waiting, or an operation that takes both wakers clears it. Such an
//      operation calls the other end's waker, and drops its own. But Close
//      calls both wakers, because another part of the task that closes the
//      channel may await the receiver.
//   3. An operation that takes both wakers reads the words before its
//      read-modify-write, because the block may be freed afterwards. The
//      read-modify-write succeeds only if the state word is the same as before.
//      If so, the bit was set all the time, because the turn makes every
//      state word different from all earlier ones, and therefore the words
//      belong to the reference. Words that are read in vain may be written
//      concurrently: they are atomic.
//
// The turn has 58 bits: it would take centuries to wrap.

#ifndef ROUSE_SYNC_ONESHOT_CORE_H_
#define ROUSE_SYNC_ONESHOT_CORE_H_

#include <atomic>
#include <cstdint>

#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/waker/waker.h"

namespace rouse::oneshot::internal {

class Core {
 public:
  Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // ---- For the sender.

  bool IsClosed() const {
    // Acquire pairs with the release of Conclude: everything that the receiver
    // did before it closed the channel is visible.
    return (word_.load(std::memory_order_acquire) & kClosed) != 0;
  }

  // Called when the value is in its place. Returns false if the channel is
  // closed: the value still belongs to the sender. A `Send()` that returns true
  // is the sender's last use of the block.
  bool Send() {
    return Conclude(kSent | kSenderDestroyed, kClosed, kSenderWaits);
  }

  // Ends the sender's use of the block without a value, and returns true. If
  // false, the receiver is destroyed, and the caller must free the block. There
  // is no value.
  bool DropSender() {
    return Conclude(kSenderDestroyed, kReceiverDestroyed, kSenderWaits);
  }

  // Returns false if the channel is closed. Otherwise `waker` will be called
  // when the channel is closed.
  bool WaitForClose(const Waker& waker) {
    return Wait(kSenderWaits, kClosed, sender_waker_, waker);
  }

  // Cancels `WaitForClose()`.
  void ForgetClose();

  // ---- For the receiver.

  enum class Answer { kNone, kValue, kSenderDestroyed, kClosed };

  Answer Look() const {
    // Acquire pairs with the release of Conclude: the value is visible, and the
    // sender's use of the block is over.
    const uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & kSent) != 0) return Answer::kValue;
    if ((word & kSenderDestroyed) != 0) return Answer::kSenderDestroyed;
    return (word & kClosed) != 0 ? Answer::kClosed : Answer::kNone;
  }

  // Returns false if there is an answer. Otherwise `waker` will be called when
  // there is an answer.
  bool WaitForValue(const Waker& waker) {
    return Wait(kReceiverWaits, kSenderDestroyed | kClosed, receiver_waker_,
                waker);
  }

  // Closes the channel: nothing can be sent from now on. The receiver's own
  // waker is called too.
  void Close() { Conclude(kClosed, kSenderDestroyed | kClosed, /*mine=*/0); }

  // Ends the receiver's use of the block, and returns true. If false, the
  // caller must destroy the value, if there is one, and free the block.
  bool DropReceiver() {
    return Conclude(kClosed | kReceiverDestroyed, kSenderDestroyed,
                    kReceiverWaits);
  }

 private:
  static constexpr uint64_t kSent = 1;
  static constexpr uint64_t kSenderDestroyed = 2;
  static constexpr uint64_t kClosed = 4;
  static constexpr uint64_t kReceiverDestroyed = 8;
  static constexpr uint64_t kSenderWaits = 16;
  static constexpr uint64_t kReceiverWaits = 32;
  static constexpr uint64_t kTurn = 64;
  static constexpr uint64_t kWaits = kSenderWaits | kReceiverWaits;

  // The words of a waker. Relaxed: the state word provides the order, and words
  // that are read in vain are not used.
  class WakerWords {
   public:
    RawWaker Read() const {
      return {data_.load(std::memory_order_relaxed),
              vtable_.load(std::memory_order_relaxed)};
    }
    void Write(const RawWaker& waker) {
      data_.store(waker.data, std::memory_order_relaxed);
      vtable_.store(waker.vtable, std::memory_order_relaxed);
    }

   private:
    Atomic<void*> data_{nullptr};
    Atomic<const RawWakerVTable*> vtable_{nullptr};
  };

  // Sets `set` and takes both wakers, unless one of the bits in `unless` is
  // set. Returns whether the bits were set. `mine` is the bit of the caller's
  // own waker, which is dropped and not called, or 0 to call both wakers.
  bool Conclude(uint64_t set, uint64_t unless, uint64_t mine) {
    // Acquire pairs with the release of the other end's Conclude, which may
    // leave the caller as the last end.
    uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & unless) != 0) return false;
    // Release pairs with the acquires of readers that find the new bits: the
    // value is in its place, and the caller's use of the block is over.
    if (ABSL_PREDICT_TRUE((word & kWaits) == 0 &&
                          word_.compare_exchange_strong(
                              word, word | set, std::memory_order_release,
                              std::memory_order_relaxed))) {
      return true;
    }
    return SlowConclude(set, unless, mine);
  }

  bool SlowConclude(uint64_t set, uint64_t unless, uint64_t mine);

  // Makes `words` and `bit` represent `waker`, unless one of the bits in
  // `unless` is set. Returns whether `waker` was stored.
  bool Wait(uint64_t bit, uint64_t unless, WakerWords& words,
            const Waker& waker);

  // Clears `bit`. Returns whether `bit` was set, so that the waker belongs to
  // the caller again. Sets `word` to the resulting state.
  bool TakeBack(uint64_t bit, uint64_t& word);

  Atomic<uint64_t> word_{0};
  WakerWords sender_waker_;
  WakerWords receiver_waker_;
};

}  // namespace rouse::oneshot::internal

#endif  // ROUSE_SYNC_ONESHOT_CORE_H_
