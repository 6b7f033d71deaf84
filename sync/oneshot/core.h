// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// What the two ends of a oneshot channel share, but for the value: who has come
// to an end, in which way, and who waits. Internal to `sync/`.
//
// # Bits
//
//   kSent           the value is in its place, and the receiver's. Comes with
//                   kSenderDestroyed.
//   kSenderDestroyed     the sender does not touch the block any more.
//   kClosed         no value can be sent any more. Not set once kSent is.
//   kReceiverDestroyed   the receiver does not touch the block any more. Comes
//   with
//                   kClosed.
//   kSenderWaits    the sender's waker is to be called when it is closed.
//   kReceiverWaits  the receiver's is to be called when the sender is gone.
//
// Above them is the turn, which counts how often one of the last two was set.
//
// # Transitions
//
//   who             unless         sets
//   Send            Closed         Sent SenderDestroyed        takes both
//   wakers DropSender      ReceiverDestroyed   SenderDestroyed takes both
//   wakers Close           SenderDestroyed,    Closed                 takes
//   both wakers
//                   Closed
//   DropReceiver    SenderDestroyed     Closed ReceiverDestroyed    takes both
//   wakers WaitForClose    Closed         SenderWaits, turn + 1 WaitForValue
//   SenderDestroyed,    ReceiverWaits, turn + 1
//                   Closed
//   a new waker     (nothing)      clears the bit of the waker, to set it again
//
// Each is one read-modify-write. Who finds that the other end is gone is alone,
// and needs none: it frees the block. So a value that is sent and received
// costs one: that of Send.
//
// # Whose the value is
//
// The sender's until kSent is set, then the receiver's. Send and Close are
// read-modify-writes of one word, so one comes first. If that is Close, Send
// changes nothing, and the receiver never looks at the value, which the sender
// takes back.
//
// # Whose a waker is
//
// It is two words, and the reference that they stand for.
//
//   1. Only the end that waits writes them, and only while its bit is clear.
//   2. Who clears the bit has the reference: the end itself, to put another
//      waker there or to wait no more, or one of those that take both wakers.
//      These call the other end's, and drop their own. But Close calls both:
//      another part of the task that has closed may have left its await there.
//   3. Who takes both reads the words before it does, since the block may be
//      gone afterwards. Its read-modify-write succeeds only if the word is the
//      same as before: then the bit has been set all the while, for with the
//      turn the word is never the same again, and so the words are those of the
//      reference. Words that are read in vain may be written meanwhile: they
//      are atomic.
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
    // Acquire pairs with the release of Conclude: what the receiver did before
    // it closed the channel is visible.
    return (word_.load(std::memory_order_acquire) & kClosed) != 0;
  }

  // When the value is in its place. False: it is closed, and the value still
  // the sender's. Else it is the sender's last use of the block.
  bool Send() {
    return Conclude(kSent | kSenderDestroyed, kClosed, kSenderWaits);
  }

  // Its last use of the block, unless false: then it is to free it. There is no
  // value.
  bool DropSender() {
    return Conclude(kSenderDestroyed, kReceiverDestroyed, kSenderWaits);
  }

  // False: it is closed. Else `waker` will be called when it is.
  bool WaitForClose(const Waker& waker) {
    return Wait(kSenderWaits, kClosed, sender_waker_, waker);
  }

  // Takes that back.
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

  // False: there is an answer. Else `waker` will be called when there is one.
  bool WaitForValue(const Waker& waker) {
    return Wait(kReceiverWaits, kSenderDestroyed | kClosed, receiver_waker_,
                waker);
  }

  // From now on nothing can be sent. The receiver's own waker is called too.
  void Close() { Conclude(kClosed, kSenderDestroyed | kClosed, /*mine=*/0); }

  // Its last use of the block, unless false: then it is to destroy the value,
  // if there is one, and to free the block.
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

  // Relaxed: the state word orders what counts, and what is read in vain is not
  // used.
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

  // Sets `set` and takes both wakers, unless one of `unless` is set: whether it
  // has done so. `mine` says which waker is the caller's, and not to be called;
  // 0 is none.
  bool Conclude(uint64_t set, uint64_t unless, uint64_t mine) {
    // Acquire pairs with the release of the other end's Conclude, which may
    // make the caller the last.
    uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & unless) != 0) return false;
    // Release pairs with the acquires of those who find what is set: the value
    // is there, and the caller's use of the block over.
    if (ABSL_PREDICT_TRUE((word & kWaits) == 0 &&
                          word_.compare_exchange_strong(
                              word, word | set, std::memory_order_release,
                              std::memory_order_relaxed))) {
      return true;
    }
    return SlowConclude(set, unless, mine);
  }

  bool SlowConclude(uint64_t set, uint64_t unless, uint64_t mine);

  // Makes `waker` what `words` and `bit` stand for, unless one of `unless` is
  // set: whether it has done so.
  bool Wait(uint64_t bit, uint64_t unless, WakerWords& words,
            const Waker& waker);

  // Clears `bit`; whether it was set, and so the waker is the caller's again.
  // `word` is what it leaves.
  bool TakeBack(uint64_t bit, uint64_t& word);

  Atomic<uint64_t> word_{0};
  WakerWords sender_waker_;
  WakerWords receiver_waker_;
};

}  // namespace rouse::oneshot::internal

#endif  // ROUSE_SYNC_ONESHOT_CORE_H_
