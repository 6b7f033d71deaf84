// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpmc.h
// -----------------------------------------------------------------------------
//
// Channels from many senders to many receivers, first in, first out. Each
// message goes to one receiver. For work that several tasks share:
//
//   auto [tx, rx] = rouse::mpmc::Channel<Job>(100);
//   for (int i = 0; i < 4; ++i) rouse::Spawn(Work(rx)).Detach();
//
//   Co<> Work(rouse::mpmc::Receiver<Job> rx) {
//     while (std::optional<Job> job = co_await rx.Receive()) Do(*job);
//   }
//   Co<> Produce(rouse::mpmc::Sender<Job> tx) {
//     while (std::optional<Job> job = co_await NextJob()) {
//       absl::Status sent = co_await tx.Send(*std::move(job));
//       if (!sent.ok()) co_return;
//     }
//   }
//
// An unbounded channel always has room, and its `Send()` is an ordinary
// function:
//
//   auto [tx, rx] = rouse::mpmc::UnboundedChannel<Event>();
//   absl::Status status = tx.Send(Event());
//
// If there is a single receiver, sync/mpsc.h is faster, and can reserve places.
// If each receiver must get each message, see sync/broadcast.h.
//
// # Order
//
// Messages leave the channel in the order in which they were sent, and those of
// one sender reach each receiver in that order. Senders that wait for room and
// receivers that wait for a message take turns: first come, first served,
// counted from the first poll. As long as a future waits, no other call takes
// what the future waits for. (At most 4,095 woken futures of a side have
// something to come. The next ones wait until one of these is polled or
// destroyed.) However, a woken receiver gets the first message that is left
// when it is polled. When the channel ends, the remaining messages go to the
// receivers that come first, and a woken receiver that comes later gets the
// end.
//
// # The end
//
// After the last sender is destroyed the receivers get the remaining messages,
// and then each receiver gets `std::nullopt`. After the last receiver is
// destroyed, or a receiver has called `Close()`, senders fail with
// `kCancelled`. This state is permanent, and retrying is useless. A send that
// waits for room when the channel is closed fails, too.
//
// # Messages
//
// `T` is any type whose move constructor and destructor do not throw. Each
// message is destroyed once. After a receive, the recipient destroys the
// message. The destructor of the last receiver destroys all messages in the
// channel, and waits a moment for messages that are being sent. No lock is held
// while messages are moved or destroyed. However, the move constructor must
// neither call `TryReceive()` nor destroy the last receiver of the channel to
// which the message is sent: both would wait for their own send. A waker may
// use the channel when it is woken, but not while it is copied or destroyed.
//
// # Cost
//
// Sending, receiving and waiting do not allocate, except for blocks of 32
// messages, which are reused, and for a stream that is polled without a
// `Waiter`. The first send allocates the first block. To send takes two atomic
// read-modify-writes, and so does to receive, as long as nobody waits. No
// thread waits for another, except for a lock and for a `TryReceive()` beside a
// send. The lock is held by futures that begin to wait or that were woken, by
// calls that wake them, by sends that overtake or were overtaken by another
// send, and about twice for each block of 32 messages. The lock is held for a
// few instructions, or for a few for each of up to eight blocks that have
// overtaken a send, or of the blocks that have overtaken a receive. While a
// send is slow and overtaken, each further send searches the blocks from there
// on for its own. A block is freed when its messages were received, and those
// that were sent or received meanwhile. A channel that becomes idle after a
// peak keeps the block of the last message, and at most three spare blocks. If
// there is no memory for a block, a send ends the program, because a claimed
// position in the order cannot be given back.
//
// # Without a runtime
//
// Futures work in tasks of any executor, and `Blocking...` calls work in plain
// threads.

#ifndef ROUSE_SYNC_MPMC_MPMC_H_
#define ROUSE_SYNC_MPMC_MPMC_H_

#include <cstddef>
#include <utility>

#include "rouse/sync/mpmc/core.h"
#include "rouse/sync/mpmc/receiver.h"  // IWYU pragma: export
#include "rouse/sync/mpmc/sender.h"    // IWYU pragma: export
#include "rouse/sync/mpmc/shared.h"

namespace rouse::mpmc {

// Channel()
//
// Makes a channel with room for `capacity` messages. Messages that were sent
// and not yet received count. A message that a receiver is about to move out
// counts no more. Panics if `capacity` is 0, or more than
// `Semaphore::kMaxPermits`.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity);

// UnboundedChannel()
//
// Makes a channel with room for as many messages as fit into memory.
template <class T>
std::pair<UnboundedSender<T>, UnboundedReceiver<T>> UnboundedChannel();

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

template <class T, class Core>
class Ends {
 public:
  using Pair = std::pair<BasicSender<T, Core>, BasicReceiver<T, Core>>;

  template <class... Args>
  static Pair Make(Args... args) {
    auto* const shared = new Shared<T, Core>(args...);
    return Pair(BasicSender<T, Core>(shared), BasicReceiver<T, Core>(shared));
  }
};

}  // namespace internal

template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity) {
  return internal::Ends<T, internal::Bounded>::Make(capacity);
}

template <class T>
std::pair<UnboundedSender<T>, UnboundedReceiver<T>> UnboundedChannel() {
  return internal::Ends<T, internal::Unbounded>::Make();
}

}  // namespace rouse::mpmc

#endif  // ROUSE_SYNC_MPMC_MPMC_H_
