// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: lookup_host.h
// -----------------------------------------------------------------------------
//
// `LookupHost()` finds the addresses of a host name:
//
//   std::vector<rouse::SocketAddr> addrs =
//       co_await rouse::OrReturn(rouse::LookupHost("example.com:80"));
//   rouse::TcpStream stream =
//       co_await rouse::OrReturn(rouse::TcpStream::Connect(addrs));
//
// "rouse/net/by_name.h" combines both steps. "rouse/net/resolver/resolver.h"
// has other ways to look up names.

#ifndef ROUSE_NET_LOOKUP_HOST_H_
#define ROUSE_NET_LOOKUP_HOST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket_addr.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

class LookupHostFuture;

// LookupHost()
//
// Looks up `host` and returns `absl::StatusOr<std::vector<SocketAddr>>`: the
// addresses of `host`, at least one, in the order in which they should be
// tried. Each address appears once, with `port` as its port.
//
// `host` is a name, or an IPv4 or IPv6 address without brackets; a link-local
// address includes its interface ("fe80::1%eth0"). An address is returned at
// once. A name is looked up by the operating system (`getaddrinfo()` with the
// system's files, name servers and search list), on a thread of `pool`, because
// `getaddrinfo()` blocks without a time limit. Without a `pool`, lookups run on
// separate threads of the runtime (`BlockingPool::lookups()` of the pool that
// is current where the future is first polled): at most 64 lookups, or
// `MaxBlockingThreads()` if less, are under way at once, and further lookups
// wait in order of arrival. Calls on standard streams that may never end
// (process/standard_streams.h) share these threads. Results are not cached.
//
// The second form takes "example.com:80", "192.0.2.1:80" or "[2001:db8::1]:80".
// Both forms copy the text. The future can be moved at any time, and polled by
// any thread, one at a time.
//
// Destroying the future cancels a lookup that has not begun. A lookup that has
// begun keeps its thread until the system has answered. A `Timeout()` therefore
// frees the task, but not the thread, which keeps other lookups waiting, but no
// blocking calls. The end of a runtime does not wait for lookups under way
// either: their threads are left behind until the system has answered. (A
// `pool` of your own waits for lookups as for any other call.)
//
//   NotFound            the name does not exist, or has no address
//   Unavailable         the name servers do not answer at present; or the
//                       runtime is being shut down
//   InvalidArgument     `host` is empty, too long, or has a colon without being
//                       an address; `host_port` is malformed
//   FailedPrecondition  no blocking pool exists to look up a name
//   ResourceExhausted   out of memory, or of threads
//   Internal            the name servers have failed permanently
//
// and errors of system calls, converted by `absl::ErrnoToStatus()`.
LookupHostFuture LookupHost(std::string_view host, uint16_t port);
LookupHostFuture LookupHost(std::string_view host_port);

// Like `LookupHost()` above, on `pool`. REQUIRES: `pool` lives until the first
// poll that finds budget left, which submits the lookup to `pool`.
LookupHostFuture LookupHost(scheduler::BlockingPool& pool,
                            std::string_view host, uint16_t port);
LookupHostFuture LookupHost(scheduler::BlockingPool& pool,
                            std::string_view host_port);

// The future of `LookupHost()`. Polling a finished future is a `Panic()`.
class [[nodiscard]] LookupHostFuture {
 public:
  using Result = absl::StatusOr<std::vector<SocketAddr>>;

  LookupHostFuture(LookupHostFuture&&) = default;
  LookupHostFuture& operator=(LookupHostFuture&&) = delete;
  ~LookupHostFuture() {
    if (lookup_.has_value()) lookup_->Abort();
  }

  PollResult<Result> Poll(Context& cx);

 private:
  friend LookupHostFuture LookupHost(std::string_view host, uint16_t port);
  friend LookupHostFuture LookupHost(std::string_view host_port);
  friend LookupHostFuture LookupHost(scheduler::BlockingPool& pool,
                                     std::string_view host, uint16_t port);
  friend LookupHostFuture LookupHost(scheduler::BlockingPool& pool,
                                     std::string_view host_port);

  LookupHostFuture(scheduler::BlockingPool* pool, std::string_view host,
                   uint16_t port)
      : pool_(pool), host_(host), port_(port) {}
  LookupHostFuture(scheduler::BlockingPool* pool, std::string_view host_port);

  // Returns the result if no lookup is necessary or possible; otherwise starts
  // the lookup in `lookup_` and returns `std::nullopt`.
  std::optional<Result> Begin();

  scheduler::BlockingPool* pool_;
  std::string host_;
  uint16_t port_ = 0;
  absl::Status malformed_;
  bool finished_ = false;
  std::optional<JoinHandle<Result>> lookup_;
};

namespace internal {

// Returns the error for `code` (EAI_...) of `getaddrinfo()`, and for `error`
// (errno) if `code` refers to errno.
absl::Status LookupError(int code, int error, std::string_view host);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_NET_LOOKUP_HOST_H_
