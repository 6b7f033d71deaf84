// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpsc.h
// -----------------------------------------------------------------------------
//
// Channels from many senders to one receiver, first in, first out. A bounded
// channel makes senders wait for room, and so keeps senders from running ahead
// of the receiver:
//
//   auto [tx, rx] = rouse::mpsc::Channel<Job>(100);
//
//   Co<> Produce(rouse::mpsc::Sender<Job> tx) {
//     while (std::optional<Job> job = co_await NextJob()) {
//       absl::Status sent = co_await tx.Send(*std::move(job));
//       if (!sent.ok()) co_return;
//     }
//   }
//   Co<> Consume(rouse::mpsc::Receiver<Job> rx) {
//     while (std::optional<Job> job = co_await rx.Receive()) Do(*job);
//   }
//
// An unbounded channel always has room, and its `Send()` is an ordinary
// function:
//
//   auto [tx, rx] = rouse::mpsc::UnboundedChannel<Event>();
//   absl::Status status = tx.Send(Event());
//
// # The end
//
// After the last sender is destroyed the receiver gets the remaining messages,
// and then `std::nullopt`. After the receiver is destroyed, or has called
// `Close()`, senders fail with `kCancelled`. This state is permanent, and
// retrying is useless.
//
// # Messages
//
// `T` is any type whose move constructor and destructor do not throw. Each
// message is destroyed once. After a receive, the recipient destroys the
// message. The destructor of the receiver destroys all messages in the channel.
// A message that is not in the channel by then is destroyed by the sender, as
// soon as this message and all earlier messages are in the channel. The sender
// then also destroys the messages of other senders that have arrived in the
// meantime. No lock is held while messages are moved or destroyed.
//
// # Cost
//
// Sending, receiving and waiting do not allocate, except for blocks of 32
// messages, which are reused. The first send allocates the first block. To send
// takes three atomic operations (two if
// unbounded), and to receive takes one (none if unbounded). If there is no
// memory for a block, a send ends the program, because a claimed position in
// the order cannot be given back.
//
// # Without a runtime
//
// Futures work in tasks of any executor, and `Blocking...` calls work in plain
// threads.

#ifndef ROUSE_SYNC_MPSC_MPSC_H_
#define ROUSE_SYNC_MPSC_MPSC_H_

#include <cstddef>
#include <utility>

#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/permit.h"    // IWYU pragma: export
#include "rouse/sync/mpsc/receiver.h"  // IWYU pragma: export
#include "rouse/sync/mpsc/send.h"      // IWYU pragma: export
#include "rouse/sync/mpsc/sender.h"    // IWYU pragma: export
#include "rouse/sync/mpsc/shared.h"

namespace rouse::mpsc {

// Channel()
//
// Makes a channel with room for `capacity` messages. Messages that were sent
// and not yet received count, and so do reserved places. Panics if `capacity`
// is 0, or more than `Semaphore::kMaxPermits`.
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

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_MPSC_H_
