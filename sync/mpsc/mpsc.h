// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpsc.h
// -----------------------------------------------------------------------------
//
// Channels from many senders to one receiver, first in, first out. A bounded
// one makes senders wait for room, and so keeps them from running ahead of the
// receiver:
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
// An unbounded one always has room, and its `Send()` is an ordinary function:
//
//   auto [tx, rx] = rouse::mpsc::UnboundedChannel<Event>();
//   absl::Status status = tx.Send(Event());
//
// # The end
//
// When the last sender has gone the receiver gets what is left, and then
// `std::nullopt`. When the receiver has gone, or has called `Close()`, senders
// fail with `kCancelled`; that is for good, and there is nothing to retry.
//
// # Messages
//
// `T` is any type whose move constructor and destructor do not throw. Each
// message is destroyed once: by who received it, by the receiver when it goes,
// or, if it was not in the channel by then, by who sends it, as soon as it and
// all before it are; then also those that others have sent meanwhile. No lock
// is held while messages are moved or destroyed.
//
// # Cost
//
// Nobody allocates to send, to receive or to wait, but for blocks of 32
// messages, which are used again. To send is three atomic operations (two if
// unbounded), to receive one (none). If there is no memory for a block, to send
// ends the program: a place in the order that was taken cannot be given back.
//
// # Without a runtime
//
// Futures work from tasks of any executor, and `Blocking...` calls from plain
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
// With room for `capacity` messages: those that were sent and not received, and
// those for which a place is reserved. Panics if it is 0, or more than
// `Semaphore::kMaxPermits`.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity);

// UnboundedChannel()
//
// With room for as many as memory has.
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
