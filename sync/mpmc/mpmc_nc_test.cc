// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/mpmc/mpmc.h"

namespace rouse::mpmc {

// Compiles.
class Message {
 public:
  Message() {}
  Message(Message&&) noexcept {}
  Message& operator=(Message&&) = delete;
};
void Use() {
  auto [tx, rx] = Channel<Message>(1);
  (void)tx.TrySend(Message());
  (void)rx.TryReceive();
}

#ifdef ROUSE_NC_MOVE_THAT_THROWS
class MoveThrows {
 public:
  MoveThrows() {}
  MoveThrows(MoveThrows&&) {}
  MoveThrows& operator=(MoveThrows&&) = delete;
};
void Make() { UnboundedChannel<MoveThrows>(); }
#endif

#ifdef ROUSE_NC_DESTRUCTOR_THAT_THROWS
class DestructorThrows {
 public:
  DestructorThrows() {}
  DestructorThrows(DestructorThrows&&) noexcept {}
  DestructorThrows& operator=(DestructorThrows&&) = delete;
  ~DestructorThrows() noexcept(false) {}
};
void Make() { Channel<DestructorThrows>(1); }
#endif

#ifdef ROUSE_NC_DISCARDED_SEND
void Discard() {
  auto [tx, rx] = Channel<Message>(1);
  tx.Send(Message());
}
#endif

#ifdef ROUSE_NC_COPY_OF_A_MOVE_ONLY_MESSAGE
void Copy(const UnboundedSender<Message>& tx, const Message& message) {
  (void)tx.Send(message);
}
#endif

}  // namespace rouse::mpmc
