// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: positions.h
// -----------------------------------------------------------------------------
//
// The order of a channel: which sender has which position, which messages can
// be received, and which futures wait for their turn. Internal to `sync/`.
// queue.h has the messages.
//
//   size_t position;
//   if (positions.TryClaimPush<kIsBounded>(position) != Refusal::kNone) ...
//   ...                                          // writes and publishes
//
//   const Claim claim = positions.TryClaimPops(1);
//   if (claim.count == 0) ...                    // `PendingTurn` can wait
//   ...                                          // takes the message
//   if (claim.wakes_senders) positions.Settle(Side::kSenders);
//
// # The protocol
//
// A position has 50 bits, and wraps around. Three words have a position, flags,
// and in two of them a number of promises:
//
//   Word     Position                            Promises to   Flags
//   tail_    end of the claimed pushes           senders       kTurns, kNoMore
//   ready_   end of the messages in the prefix                 kWanted, kGaps
//   head_    end of the claimed pops             receivers     kTurns, kWanted
//
// Always head_ <= ready_ <= tail_, and in a bounded channel tail_ <= head_ +
// capacity. A push claims the position at `tail_`, writes its message, and
// publishes it at `ready_`. A pop claims a position before `ready_` at
// `head_`, and then takes the message. The claim of a pop frees a place.
//
// ## The prefix
//
// The *ready prefix* are the positions before the first whose push has not
// ended. Pushes may end in any order:
//
// * If `ready_` is at the position of a push that ends, no other thread can
//   move `ready_`. The push adds 1.
// * Otherwise the push has left a gap before its message. With the lock, it
//   sets the bit of its slot in the block (queue.h), counts the message in
//   `gaps_`, and sets kGaps. The push that fills the gap sees kGaps in the
//   value to which it adds 1, takes the lock, and extends the prefix over all
//   bits that follow. If the gap was filled before kGaps was set, the push that
//   sets kGaps sees `ready_` at its own position, and extends the prefix
//   itself. The last message in `gaps_` takes kGaps along.
//
// ## Turns
//
// Each side has a line of futures that wait: for messages, or for places. The
// side *claims* at one word, and is *supplied* by another:
//
//   Side        Claims at   Supplied by
//   senders     tail_       head_ (+ capacity)
//   receivers   head_       ready_
//
//   Future      Is in                   Waits for
//   waiting     `waiting`               a unit: a message or a place
//   promised    no list, has a promise  its next poll, which claims a position
//
// Invariants of a side, whenever the lock is free and the side is not over:
//
// * kTurns is set at the word of the claims if and only if a future waits. Then
//   only holders of the lock claim or promise. Otherwise a claim is a
//   compare-exchange, which leaves as many units as are promised in the same
//   word. The supply only grows, so an old value of it is safe.
// * kWanted is set at the word of the supply if and only if a future waits. A
//   thread that adds to the supply sees kWanted in the value to which it adds,
//   and calls `Settle()`, which hands out promises.
// * At least as many units are free as are promised. A future waits only if all
//   free units are promised, or kMaxPromises are, or a thread has freed a unit,
//   or redeemed or given up a promise, and has not called `Settle()` yet.
//
// A future begins to wait with the lock. It sets kTurns, so that the number of
// claims stands still, and then kWanted. The addition of a supplier comes
// before kWanted in the order of the word, and the future sees the unit; or the
// addition comes later, and the supplier sees kWanted. So no wake is lost. The
// addition may be the last before the end. Therefore the future looks for the
// end once more after it has set kWanted.
//
// A promise is for any unit: the future gets the first message that is left. A
// promised future that is destroyed gives up its promise, and calls `Settle()`
// if others wait.
//
// ## The end
//
// kNoMore is set with the lock, and the position of `tail_` does not change
// after that. From then on the side of the senders is *over*. The side of the
// receivers is over when `ready_` has reached `tail_`, too. A side that is over
// makes no promises, forgets those that were made, clears kTurns, and wakes all
// that wait. A receiver then claims what is left, or is at the end.
//
// ## Orders
//
// `ready_` hands on the messages: the additions release, and each pop acquires.
// `head_` hands on what receivers did: claims acquire and release, and a push
// that was short of places acquires. `tail_` hands on the search for blocks
// (block_chain.h) and what came before kNoMore. All changes are
// read-modify-writes, so each hands on what the ones before it released. The
// flags need no order: their partners are under the lock.
//
// `room_end_` and `known_ready_` are copies, a little old, of the end of the
// room and of `ready_`. They save accesses of the line of the other side.

#ifndef ROUSE_SYNC_MPMC_POSITIONS_H_
#define ROUSE_SYNC_MPMC_POSITIONS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/wake_list.h"

namespace rouse::mpmc::internal {

enum class Side : uint8_t { kSenders, kReceivers };

// The result of a push's attempt to claim a position.
enum class Refusal : uint8_t {
  kNone,
  kFull,
  kTurns,  // futures wait
  kClosed,
};

// The positions that a push or a pop has claimed.
struct Claim {
  size_t position = 0;
  size_t count = 0;
  // Set if the claim has freed places for which senders wait: call
  // `Settle(Side::kSenders)` when the messages were taken.
  bool wakes_senders = false;
  // Set if futures of the same side wait that had no promise because there were
  // too many: call `Settle()` of the side when the message was sent, or when
  // the messages were taken. (A waker may wait for a send that has a claim.)
  bool has_others = false;
};

// A future in a line. Guarded by the lock.
struct Waiter : rouse::internal::WaitNode {
  explicit Waiter(const char* call) : call(call) {}

  const char* const call;  // of the future, for panics
  // Set if the future has a promise. Without meaning when the side is over.
  Cell<bool> promised{false};
};

// Positions
//
// Thread-safe.
class Positions {
 public:
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
  // The largest other capacity. No channel has as many messages: see `room_`.
  static constexpr size_t kMaxCapacity = kUnlimited >> 3;

  explicit Positions(size_t capacity)
      : room_(std::min(capacity, size_t{1} << (kPositionBits - 2))),
        capacity_(capacity) {}
  Positions(const Positions&) = delete;
  Positions& operator=(const Positions&) = delete;

  // ---- For senders.

  // Claims a position, unless futures wait.
  template <bool kIsBounded>
  Refusal TryClaimPush(size_t& position) {
    // Acquire pairs with the release of SetNoMore: a refused push sees
    // everything before the end.
    uint64_t tail = tail_.load(std::memory_order_acquire);
    do {
      if (ABSL_PREDICT_FALSE((tail & kFlags) != 0)) {
        return (tail & kNoMore) != 0 ? Refusal::kClosed : Refusal::kTurns;
      }
      if (kIsBounded && ABSL_PREDICT_FALSE(!HasRoom(tail))) {
        return Refusal::kFull;
      }
      // Acquire pairs with the release in MoveTail: a push that claims a
      // position after that step sees where `block_tail_` was before the step.
      // Release pairs with the acquire of Redeem: each claim sees what the
      // claims before have seen. Acquire on failure: as above.
    } while (!tail_.compare_exchange_weak(tail, tail + kPosition,
                                          std::memory_order_acq_rel,
                                          std::memory_order_acquire));
    position = tail / kPosition;
    return Refusal::kNone;
  }

  // Claims a position, if there is room that no future has or waits for. Never
  // returns kTurns.
  Refusal ClaimPushNow(size_t& position);

  // ---- For receivers.

  // Claims up to `limit` positions in the prefix, unless futures wait.
  Claim TryClaimPops(size_t limit) {
    // Relaxed: the compare-exchange acquires.
    uint64_t head = head_.load(std::memory_order_relaxed);
    size_t count;
    do {
      if (ABSL_PREDICT_FALSE((head & kTurns) != 0)) return {};
      count = CountReady(head, limit);
      if (count == 0) return {};
      // Acquire and release: each claim sees what the claims before have seen.
      // Acquire also pairs with the release in Reclaim. Release also pairs with
      // the acquires in HasRoom and in Free.
    } while (!head_.compare_exchange_weak(head, head + count * kPosition,
                                          std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return {head / kPosition, count, (head & kWanted) != 0};
  }

  // Claims a position, unless all messages that were sent before the call were
  // received, or will go to futures that wait. May wait a moment for a push
  // that has not ended.
  Claim ClaimPopNow();

  // Claims all messages that are left, and returns a claim of none when no more
  // will come. May wait a moment for a push that has not ended.
  // REQUIRES: kNoMore is set, no future waits.
  Claim ClaimRest();

  // Returns whether kNoMore is set and all messages were claimed.
  bool IsAtEnd() const {
    // Acquire pairs with the release of SetNoMore: a receiver at the end sees
    // everything before the end.
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    // Relaxed: an old value is before the end.
    return (tail & kNoMore) != 0 &&
           head_.load(std::memory_order_relaxed) / kPosition ==
               tail / kPosition;
  }

  // Returns how many messages could be claimed now, up to `limit`.
  size_t CountClaimable(size_t limit) {
    // Relaxed: the number may change at any moment.
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if ((head & kTurns) != 0) return 0;
    return CountReady(head, limit);
  }

  // ---- For both.

  // Makes all pushes fail that have not claimed a position yet. The caller
  // must call `Settle()` after that, for each side that can have futures.
  void SetNoMore();

  // Hands free units out to the futures of `side` that wait, or wakes them all
  // if the side is over. If wakers throw, calls all of them and then rethrows
  // the first exception.
  void Settle(Side side);

  // Returns the number of messages that are in the channel or are being sent.
  size_t size() const {
    // Acquire pairs with the releases of the claims of pops: their pushes are
    // visible, so the tail is not behind the head. A channel that seems empty
    // has been empty in between.
    const size_t head = head_.load(std::memory_order_acquire) / kPosition;
    // Relaxed: a caller sees its own pushes, and those that happened before.
    return Distance(head, tail_.load(std::memory_order_relaxed) / kPosition);
  }
  // Returns the number of free places that are not promised to futures.
  size_t available() const;
  size_t capacity() const { return capacity_; }

 protected:
  // The bits of the words: two flags, promises, and a position.
  static constexpr int kPromiseBits = 12;
  static constexpr int kPositionBits = 50;
  static constexpr uint64_t kPromise = 4;
  static constexpr uint64_t kPosition = kPromise << kPromiseBits;
  static constexpr uint64_t kPromises = kPosition - kPromise;
#ifdef ROUSE_MODEL
  static constexpr size_t kMaxPromises = 2;
  // How many futures are woken before the lock is taken again.
  static constexpr size_t kMaxWoken = 1;
#else
  static constexpr size_t kMaxPromises = kPromises / kPromise;
  static constexpr size_t kMaxWoken = WakeList::kCapacity;
#endif

  // A flag of `tail_`, and of `head_`: futures wait, so claims need the lock.
  static constexpr uint64_t kTurns = 1;
  // A flag of `ready_`: messages behind the prefix are ready.
  static constexpr uint64_t kGaps = 1;
  // A flag of `tail_`: no more messages are accepted.
  static constexpr uint64_t kNoMore = 2;
  // A flag of `ready_`, and of `head_`: futures wait for what is added.
  static constexpr uint64_t kWanted = 2;
  static constexpr uint64_t kFlags = 3;

  // Positions soon wrap around in every channel, so that tests see it: behind
  // two blocks.
#ifdef ROUSE_MODEL
  static constexpr size_t kFirstPosition = (size_t{1} << kPositionBits) - 4;
#else
  static constexpr size_t kFirstPosition = (size_t{1} << kPositionBits) - 64;
#endif

  // Returns the position that is `count` behind `position`.
  static size_t Advance(size_t position, size_t count) {
    return (position + count) % (size_t{1} << kPositionBits);
  }
  // Returns by how much `to` is behind `from`; less than 0 if it is before.
  static int64_t Distance(size_t from, size_t to) {
    constexpr int kUnused = 64 - kPositionBits;
    return static_cast<int64_t>((to - from) << kUnused) >> kUnused;
  }
  static size_t PromisesOf(uint64_t word) {
    return (word & kPromises) / kPromise;
  }

  // Returns whether all slots of `block` are in the prefix; for `BlockChain`.
  template <class Block>
  bool IsFull(const Block& block) const {
    // Acquire pairs with the releases of the pushes into the block. They have
    // found the block, and have done the store in FindFrom if they had to.
    const uint64_t ready = ready_.load(std::memory_order_acquire);
    return Distance(block.start.Read(), ready / kPosition) >=
           int64_t{Block::kSlots};
  }

 private:
  friend class PendingTurn;

  // The futures of a side.
  struct Line {
    IntrusiveList<rouse::internal::WaitNode> waiting;  // of `Waiter`s
    size_t waiting_count = 0;
    bool is_over = false;
  };

  // The outcome for a future.
  enum class Fate : uint8_t { kWaits, kPromised, kOver };

  // Returns whether the channel has a place that is not promised, for a push at
  // the position of `tail`.
  bool HasRoom(uint64_t tail) {
    // The end of the places that the push needs.
    size_t needed = Advance(tail / kPosition, 1);
    ROUSE_MUTABLE_CALL(needed = Advance(needed, PromisesOf(tail)));
    // Acquire pairs with the release below, in another push.
    if (ABSL_PREDICT_TRUE(
            Distance(needed, room_end_.load(std::memory_order_acquire)) >= 0)) {
      return true;
    }
    // Acquire pairs with the releases of the claims of pops: a push sees what
    // its receiver did before it freed the place.
    const size_t end =
        Advance(head_.load(std::memory_order_acquire) / kPosition, room_);
    if (Distance(needed, end) < 0) return false;
    // Release pairs with the acquire above. An older value may come last, and
    // is right, too.
    room_end_.store(end, std::memory_order_release);
    return true;
  }

  // Returns how many messages a pop at the position of `head` can claim, up to
  // `limit`: those in the prefix that are not promised.
  size_t CountReady(uint64_t head, size_t limit) {
    size_t first = head / kPosition;
    ROUSE_MUTABLE_CALL(first = Advance(first, PromisesOf(head)));
    // Acquire pairs with the release below, in another pop.
    int64_t count =
        Distance(first, known_ready_.load(std::memory_order_acquire));
    if (ABSL_PREDICT_FALSE(count < 1 || static_cast<size_t>(count) < limit)) {
      // Acquire pairs with the releases of pushes.
      const size_t ready = ready_.load(std::memory_order_acquire) / kPosition;
      count = Distance(first, ready);
      if (count < 1) return 0;
      // Release pairs with the acquire above. An older value may come last, and
      // is right, too.
      known_ready_.store(ready, std::memory_order_release);
    }
    return std::min(static_cast<size_t>(count), limit);
  }

  Line& LineOf(Side side) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return side == Side::kSenders ? senders_ : receivers_;
  }
  Atomic<uint64_t>& ClaimsOf(Side side) {
    return side == Side::kSenders ? tail_ : head_;
  }
  Atomic<uint64_t>& SupplyOf(Side side) {
    return side == Side::kSenders ? head_ : ready_;
  }

  bool CanClaim(Side side);
  size_t Free(Side side, uint64_t claims) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndIfOver(Side side) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Assign(Side side, WakeList& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Fate Check(Side side, Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StopWaiting(Side side, uint64_t promises)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Remove(Side side, Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Claim Redeem(Side side, Waiter& waiter, size_t limit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool GiveUp(Side side, Waiter& waiter);

  // ---- Changed by receivers.
  alignas(ABSL_CACHELINE_SIZE) Atomic<size_t> known_ready_{kFirstPosition};

 protected:
  Atomic<uint64_t> head_{kFirstPosition * kPosition};

 private:
  // ---- Changed under the lock.
  Line receivers_ ABSL_GUARDED_BY(mu_);
  Line senders_ ABSL_GUARDED_BY(mu_);

 protected:
  // The number of messages that are ready, and are not in the prefix.
  size_t gaps_ ABSL_GUARDED_BY(mu_) = 0;
  BriefLock mu_;

  // ---- Changed by senders. Last, so that the members of the queue that are
  // changed by senders are on the same line.
  alignas(ABSL_CACHELINE_SIZE) Atomic<uint64_t> tail_{kFirstPosition *
                                                      kPosition};
  Atomic<uint64_t> ready_{kFirstPosition * kPosition};

 private:
  Atomic<size_t> room_end_{kFirstPosition};
  // The capacity, or as many places as positions can be apart.
  const size_t room_;
  const size_t capacity_;
};

// PendingTurn
//
// The part of a future that claims positions. Like a future, it may be moved
// until its first poll; a move while it waits panics. Destruction cancels it: a
// promise passes to the next future.
class PendingTurn {
 public:
  PendingTurn(Positions& positions ABSL_ATTRIBUTE_LIFETIME_BOUND, Side side)
      : positions_(&positions), side_(side) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PendingTurn(PendingTurn&& other);
  PendingTurn& operator=(PendingTurn&&) = delete;
  ~PendingTurn() {
    if (ABSL_PREDICT_FALSE(state_ == State::kQueued)) Cancel();
  }

  // Returns whether this was neither polled nor moved from. The channel of any
  // other `PendingTurn` may no longer exist, unless it waits.
  bool IsNew() const { return state_ == State::kNew; }

  // Ends without a claim. Polling is a `Panic()` from then on.
  // REQUIRES: `IsNew()`.
  void Finish() { state_ = State::kDone; }

  // Polls for a position, after an attempt without the lock has failed. Returns
  // the claim of one position, or of none if the side is over. If polled again
  // after that, the panic names `call`.
  //
  // Without budget, the future takes its place in the line, and keeps its
  // promise for the next poll. However, if nobody waits and a unit is free, the
  // future takes none, and tries again after other tasks have run.
  PollResult<Claim> PollSlowly(Context& cx, const char* call);

  // Like `PollSlowly()`, but leaves the claim to a call of `Redeem()`, which
  // must come before the next poll.
  PollResult<void> PollTurn(Context& cx, const char* call);
  // Claims up to `limit` positions: at least one, unless the side is over and
  // there are none, or `limit` is 0. In the latter case, the promise passes to
  // the next future.
  Claim Redeem(size_t limit);

 private:
  enum class State : uint8_t {
    kDone,
    kNew,
    kQueued,  // `waiter_` exists
  };

  PollResult<Claim> DoPoll(Context& cx, const char* call, bool redeems);
  void End();
  void Cancel();

  Positions* positions_;
  Side side_;
  State state_ = State::kNew;
  // In a union, because most futures need not wait.
  union {
    Waiter waiter_;
  };
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_POSITIONS_H_
