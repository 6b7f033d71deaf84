// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/udp_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/net/socket/datagram_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::Socket;
using reactor::Direction;

// An error after the first datagram ends a batch early without another event.
constexpr size_t kNeverShort = 0;

// Returns `interface` or, if it is 0, the scope of `group`. Returns
// InvalidArgument if the two name different interfaces.
absl::StatusOr<uint32_t> InterfaceOf(const SocketAddr& group,
                                     uint32_t interface,
                                     std::string_view call) {
  if (interface == 0) return group.scope();
  if (group.scope() == 0 || group.scope() == interface) return interface;
  return absl::InvalidArgumentError(absl::StrCat(
      call, ": the scope of the group is not interface ", interface));
}

// Joins or leaves `group`.
absl::Status ChangeGroup(int fd, const SocketAddr& group, uint32_t interface,
                         bool join) {
  const std::string call =
      absl::StrCat(join ? "join" : "leave", " the multicast group ", group);
  const absl::StatusOr<uint32_t> chosen = InterfaceOf(group, interface, call);
  if (!chosen.ok()) return chosen.status();
  int result;
  if (group.IsIPv4()) {
    ip_mreqn request = {};
    request.imr_multiaddr =
        reinterpret_cast<const sockaddr_in*>(group.data())->sin_addr;
    request.imr_ifindex = static_cast<int>(*chosen);
    result = setsockopt(fd, IPPROTO_IP,
                        join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &request,
                        sizeof request);
  } else {
    ipv6_mreq request = {};
    request.ipv6mr_multiaddr =
        reinterpret_cast<const sockaddr_in6*>(group.data())->sin6_addr;
    request.ipv6mr_interface = *chosen;
    result =
        setsockopt(fd, IPPROTO_IPV6, join ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP,
                   &request, sizeof request);
  }
  if (result == 0) return absl::OkStatus();
  if (join && errno == EADDRINUSE) {
    return absl::AlreadyExistsError(
        absl::StrCat(call, ": the socket has already joined the group"));
  }
  if (!join && errno == EADDRNOTAVAIL) {
    return absl::NotFoundError(
        absl::StrCat(call, ": the socket has not joined the group"));
  }
  return absl::ErrnoToStatus(errno, call);
}

// Joins or leaves `source` of `group`.
absl::Status ChangeSource(int fd, const SocketAddr& group,
                          const SocketAddr& source, uint32_t interface,
                          bool join) {
  const std::string call =
      absl::StrCat(join ? "join" : "leave", " the source ", source,
                   " of the multicast group ", group);
  const absl::StatusOr<uint32_t> chosen = InterfaceOf(group, interface, call);
  if (!chosen.ok()) return chosen.status();
  // The system has one error for this and for several other mistakes.
  if (!group.IsMulticast() || group.family() != source.family()) {
    return absl::InvalidArgumentError(absl::StrCat(
        call, ": pass a multicast group, and a source of the same family"));
  }
  group_source_req request = {};
  request.gsr_interface = *chosen;
  std::memcpy(&request.gsr_group, group.data(), group.size());
  std::memcpy(&request.gsr_source, source.data(), source.size());
  if (setsockopt(fd, group.IsIPv4() ? IPPROTO_IP : IPPROTO_IPV6,
                 join ? MCAST_JOIN_SOURCE_GROUP : MCAST_LEAVE_SOURCE_GROUP,
                 &request, sizeof request) == 0) {
    return absl::OkStatus();
  }
  if (join && errno == EADDRNOTAVAIL) {
    return absl::AlreadyExistsError(
        absl::StrCat(call, ": the socket has already joined the source"));
  }
  // EINVAL means that the socket has joined no source of the group.
  if (!join && (errno == EADDRNOTAVAIL || errno == EINVAL)) {
    return absl::NotFoundError(
        absl::StrCat(call, ": the socket has not joined the source"));
  }
  return absl::ErrnoToStatus(errno, call);
}

}  // namespace

absl::StatusOr<UdpSocket> UdpSocket::Bind(const SocketAddr& addr,
                                          const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(addr.family(), SOCK_DGRAM);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = socket->Bind(addr);
  if (!status.ok()) return status;
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<UdpSocket> UdpSocket::FromFd(OwnedFd fd,
                                            const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_INET, SOCK_DGRAM), handle);
}

PollResult<absl::StatusOr<size_t>> UdpSocket::PollSendTo(
    Context& cx, std::string_view data, const SocketAddr& to,
    reactor::Waiter* waiter) const {
  return evented().registration().PollIo(
      Direction::kWrite, cx, waiter, kNeverShort,
      [&] {
        return sendto(fd(), data.data(), data.size(), MSG_NOSIGNAL, to.data(),
                      to.size());
      },
      [&](int error) {
        return internal::SendError(error, absl::StrCat("sendto ", to));
      });
}

PollResult<absl::StatusOr<UdpSocket::Received>> UdpSocket::PollPeekFrom(
    Context& cx, absl::Span<char> buffer, reactor::Waiter* waiter) const {
  return PollReceive(cx, buffer, MSG_PEEK, waiter);
}

PollResult<absl::StatusOr<size_t>> UdpSocket::PollRecvBatch(
    Context& cx, absl::Span<Incoming> batch, reactor::Waiter* waiter) const {
  if (batch.empty()) return absl::StatusOr<size_t>(0);
  batch = batch.first(std::min(batch.size(), kMaxBatch));
  mmsghdr messages[kMaxBatch];
  iovec vectors[kMaxBatch];
  sockaddr_in6 peers[kMaxBatch];  // holds both families
  auto count = evented().registration().PollIo(
      Direction::kRead, cx, waiter, kNeverShort,
      [&]() -> ssize_t {
        std::memset(messages, 0, sizeof messages[0] * batch.size());
        for (size_t i = 0; i < batch.size(); ++i) {
          vectors[i] = {batch[i].buffer.data(), batch[i].buffer.size()};
          msghdr& header = messages[i].msg_hdr;
          header.msg_name = &peers[i];
          header.msg_namelen = sizeof peers[i];
          header.msg_iov = &vectors[i];
          header.msg_iovlen = 1;
        }
        return recvmmsg(fd(), messages, static_cast<unsigned>(batch.size()), 0,
                        nullptr);
      },
      [&](int error) { return io().ErrorAtLocal(error, "recvmmsg on"); });
  if (count.IsPending() || !count->ok()) return count;
  for (size_t i = 0; i < **count; ++i) {
    const msghdr& header = messages[i].msg_hdr;
    batch[i].size = messages[i].msg_len;
    batch[i].truncated = (header.msg_flags & MSG_TRUNC) != 0;
    batch[i].peer =
        SocketAddr::FromSockaddr(reinterpret_cast<const sockaddr*>(&peers[i]),
                                 header.msg_namelen)
            .value_or(SocketAddr());
  }
  return count;
}

PollResult<absl::StatusOr<size_t>> UdpSocket::PollSendBatch(
    Context& cx, absl::Span<const Outgoing> batch,
    reactor::Waiter* waiter) const {
  if (batch.empty()) return absl::StatusOr<size_t>(0);
  batch = batch.first(std::min(batch.size(), kMaxBatch));
  mmsghdr messages[kMaxBatch];
  iovec vectors[kMaxBatch];
  std::memset(messages, 0, sizeof messages[0] * batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    vectors[i] = {const_cast<char*>(batch[i].data.data()),
                  batch[i].data.size()};
    msghdr& header = messages[i].msg_hdr;
    header.msg_name = const_cast<sockaddr*>(batch[i].to.data());
    header.msg_namelen = batch[i].to.size();
    header.msg_iov = &vectors[i];
    header.msg_iovlen = 1;
  }
  return evented().registration().PollIo(
      Direction::kWrite, cx, waiter, kNeverShort,
      [&]() -> ssize_t {
        return sendmmsg(fd(), messages, static_cast<unsigned>(batch.size()),
                        MSG_NOSIGNAL);
      },
      [&](int error) {
        return internal::SendError(error,
                                   absl::StrCat("sendmmsg to ", batch[0].to));
      });
}

absl::Status UdpSocket::JoinMulticast(const SocketAddr& group,
                                      uint32_t interface) const {
  return ChangeGroup(fd(), group, interface, /*join=*/true);
}

absl::Status UdpSocket::LeaveMulticast(const SocketAddr& group,
                                       uint32_t interface) const {
  return ChangeGroup(fd(), group, interface, /*join=*/false);
}

absl::Status UdpSocket::JoinMulticastSource(const SocketAddr& group,
                                            const SocketAddr& source,
                                            uint32_t interface) const {
  return ChangeSource(fd(), group, source, interface, /*join=*/true);
}

absl::Status UdpSocket::LeaveMulticastSource(const SocketAddr& group,
                                             const SocketAddr& source,
                                             uint32_t interface) const {
  return ChangeSource(fd(), group, source, interface, /*join=*/false);
}

absl::Status UdpSocket::SetMulticastInterface(uint32_t interface) const {
  const absl::StatusOr<int> family = internal::FamilyOf(fd());
  if (!family.ok()) return family.status();
  if (*family == AF_INET6) {
    return internal::SetOption(
        fd(),
        internal::SocketOption{IPPROTO_IPV6, IPV6_MULTICAST_IF,
                               "IPV6_MULTICAST_IF"},
        static_cast<int>(interface));
  }
  ip_mreqn request = {};
  request.imr_ifindex = static_cast<int>(interface);
  if (setsockopt(fd(), IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) ==
      0) {
    return absl::OkStatus();
  }
  return internal::OptionError("IP_MULTICAST_IF");
}

}  // namespace rouse
