// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_seqpacket_listener.h
// -----------------------------------------------------------------------------
//
// A `UnixSeqpacketListener` accepts connections of messages from processes of
// this machine:
//
//   absl::StatusOr<UnixSeqpacketListener> listener =
//       UnixSeqpacketListener::Bind(
//           UnixAddr::FromPath("/run/app.sock").value());
//   for (;;) {
//     absl::StatusOr<UnixSeqpacketListener::Accepted> accepted =
//         co_await listener->Accept();
//     ...
//   }

#ifndef ROUSE_NET_UNIX_UNIX_SEQPACKET_LISTENER_H_
#define ROUSE_NET_UNIX_UNIX_SEQPACKET_LISTENER_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/listener_base.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_seqpacket.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

// UnixSeqpacketListener
//
// Like `UnixListener`, for connections of messages: an `Accepted::stream` is a
// `UnixSeqpacket`. Shares the members in net/socket/listener_base.h, such as
// `Accept()`, with the other listeners. A path stays in the file system when
// the listener is destroyed.
class UnixSeqpacketListener
    : public internal::ListenerBase<UnixSeqpacketListener, UnixSeqpacket,
                                    UnixAddr> {
 public:
  // Listens at `addr`. Errors are those of `UnixListener::Bind()`.
  static absl::StatusOr<UnixSeqpacketListener> Bind(
      const UnixAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Takes over a listening socket and makes the socket non-blocking. On failure
  // closes `fd`. Returns InvalidArgument if `fd` is not a Unix seqpacket
  // socket; FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UnixSeqpacketListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixSeqpacketListener(UnixSeqpacketListener&&) = default;
  UnixSeqpacketListener& operator=(UnixSeqpacketListener&&) = default;

 private:
  friend EventedBase;
  friend ListenerBase;

  static constexpr std::string_view kAcceptName =
      "UnixSeqpacketListener::Accept()";

  explicit UnixSeqpacketListener(Evented evented)
      : ListenerBase(std::move(evented)) {}
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_SEQPACKET_LISTENER_H_
