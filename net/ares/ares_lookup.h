// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ares_lookup.h
// -----------------------------------------------------------------------------
//
// Internal to net/ares/: one lookup with c-ares, polled by the task that needs
// the name.
//
// # How c-ares is driven
//
// c-ares does not open, read, write or close a socket itself, but calls the
// functions of `kFunctions`. A read or a write to a connection goes
// through `Registration::PollOutcome()`, like every read and write of net/. If
// the call would block, the task is registered to be woken, and c-ares sees
// EAGAIN. A poll of the lookup therefore only has to offer each socket to
// c-ares (`ares_process_fd()`), and needs no memory of which socket is ready.
// Because c-ares closes a socket by `aclose()`, the registration ends before
// the descriptor is closed.
//
// # Time
//
// c-ares would measure its timeouts by the system's clock, which is not the
// runtime's clock in a test or a simulation. Therefore c-ares gets a timeout
// that never comes, and a single attempt. The lookup has a `Sleep`, which
// restarts whenever c-ares sends something. When the sleep ends, reads from
// every open socket begin to fail with ETIMEDOUT, and c-ares then asks the next
// name server, as after any failure of a socket. When no name server is left,
// the channel is destroyed, and the next attempt begins with another channel
// and twice the time.
//
// # Re-entrance
//
// c-ares calls back from within `ares_getaddrinfo()`, `ares_process_fd()` and
// `ares_destroy()`. The functions and the callback only change members: the
// functions call no function of c-ares, wake and destroy nothing, and do not
// throw. The answer is read, and the channel destroyed, after c-ares has
// returned. While a channel is destroyed, no socket can be opened, so c-ares
// can begin nothing new.

#ifndef ROUSE_NET_ARES_ARES_LOOKUP_H_
#define ROUSE_NET_ARES_ARES_LOOKUP_H_

#include <ares.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/net/ares/ares_channels.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/reactor/ready.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// AresLookup
//
// A future of `Resolver::Result`: see `AresResolver`. Cannot be moved. Polling
// a finished lookup is a `Panic()`.
class AresLookup {
 public:
  using Result = Resolver::Result;

  AresLookup(std::shared_ptr<AresChannels> channels, std::string name,
             uint16_t port);
  AresLookup(const AresLookup&) = delete;
  AresLookup& operator=(const AresLookup&) = delete;
  ~AresLookup();

  PollResult<Result> Poll(Context& cx);

 private:
  struct Socket;
  struct FreeAddrinfo {
    void operator()(ares_addrinfo* list) const { ares_freeaddrinfo(list); }
  };

  static const ares_socket_functions kFunctions;

  // Begins an attempt. Returns an error if c-ares cannot begin.
  absl::Status Begin();
  // Does what can be done now. Returns whether the attempt has ended. Errors
  // are those of the reactor and of the driver of timers.
  absl::StatusOr<bool> Advance(Context& cx);
  // Lets c-ares read from all sockets, and write if `writes`.
  void Process(bool writes);
  // Ends the attempt: closes all sockets, gives back or destroys the channel,
  // and forgets the answer.
  void Close();
  // Returns whether the attempt has found addresses, and has seen no failure of
  // a server or of a socket before, so that the channel is as good as new.
  bool HasEndedWell() const;

  // Returns whether the attempt has failed because servers were silent, and
  // another attempt remains.
  bool ShouldRepeat() const;
  // Returns the result of an attempt that has ended.
  Result Answer() const;
  absl::Status ErrorOf(int status) const;
  absl::Status NoAnswer() const;
  absl::Status Error(absl::StatusCode code, std::string_view message) const;
  absl::Duration TimeLimit() const;
  // Gives the timer a deadline, even before its first poll.
  void RestartTimer();
  // Returns whether the time of the attempt has passed. Needs no budget.
  bool IsTimeUp() const;

  // The functions that c-ares calls, and their helpers.
  Socket* Find(ares_socket_t fd) const;
  void OnAnswer(int status, ares_addrinfo* list) noexcept;
  ares_socket_t Open(int family, int type, int protocol) noexcept;
  void CloseSocket(ares_socket_t fd) noexcept;
  ares_ssize_t Receive(ares_socket_t fd, void* data, size_t size, int flags,
                       sockaddr* from, ares_socklen_t* from_size) noexcept;
  ares_ssize_t Send(ares_socket_t fd, const iovec* pieces, int count) noexcept;
  // Makes a call as `Registration::PollOutcome()` does. Returns what c-ares
  // expects: -1 and `errno` if the call failed or must wait.
  template <class Attempt>
  ares_ssize_t Call(Socket& socket, reactor::Direction direction,
                    Attempt attempt);

  const AresOptions& options() const { return channels_->options(); }

  const std::shared_ptr<AresChannels> channels_;
  const std::string name_;
  const uint16_t port_;
  bool finished_ = false;
  int attempt_ = 0;

  // The state of an attempt.
  AresChannel channel_;
  Socket* sockets_ = nullptr;  // a list, owned
  // The context while `Poll()` runs, and otherwise null.
  Context* cx_ = nullptr;
  // True if c-ares has sent or received anything since the last assignment.
  bool progress_ = false;
  bool timed_out_ = false;
  // True if a call on a socket has failed.
  bool socket_failed_ = false;
  // The error of the last socket that could not be opened, or 0.
  int open_error_ = 0;
  // The code of the last answer without addresses, or 0.
  int response_code_ = 0;
  // The answer, when there is one.
  std::optional<int> status_;
  std::unique_ptr<ares_addrinfo, FreeAddrinfo> list_;

  std::optional<wheel::Handle> timers_;
  std::optional<Sleep> timer_;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_ARES_ARES_LOOKUP_H_
