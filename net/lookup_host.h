// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: lookup_host.h
// -----------------------------------------------------------------------------
//
// `LookupHost()` finds the addresses that a name stands for:
//
//   std::vector<rouse::SocketAddr> addrs =
//       co_await rouse::OrReturn(rouse::LookupHost("example.com:80"));
//   rouse::TcpStream stream =
//       co_await rouse::OrReturn(rouse::TcpStream::Connect(addrs));
//
// "rouse/net/by_name.h" does both.

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
// Gives `absl::StatusOr<std::vector<SocketAddr>>`: the addresses of `host`, in
// the order in which they should be tried, each once and all with `port`. There
// is at least one.
//
// `host` is a name, or an IPv4 or IPv6 address without brackets, with its
// interface if it is link-local ("fe80::1%eth0"): an address is its own answer,
// at once. A name is looked up by the operating system (`getaddrinfo()`: its
// files, its name servers, its search list), which blocks and knows no limit of
// time, on a thread of `pool`. Without one, the runtime's lookups have threads
// of their own (`BlockingPool::lookups()` of the pool that is current where the
// future is polled first): 64 lookups at most are under way at a time, or as
// many as `MaxBlockingThreads()` says if that is less, and others wait for
// their turn, first come, first served. Nothing is kept for the next time.
//
// The second form takes "example.com:80", "192.0.2.1:80" or "[2001:db8::1]:80".
// Both copy the text. The future may be moved at any time, and polled by any
// thread, one at a time.
//
// Destroying the future cancels a lookup that has not begun; one that has keeps
// its thread until the system has answered. So a `Timeout()` frees the task,
// but not the thread; that keeps other lookups waiting, but no blocking call.
// Nor does the end of a runtime wait for a lookup that is under way: its thread
// is left behind until the system has answered. (A `pool` of your own waits for
// it as for any other call.)
//
//   NotFound            there is no such name, or it has no address
//   Unavailable         the name servers do not answer, for now; or the runtime
//                       is being shut down
//   InvalidArgument     `host` is empty, too long or no address though it has a
//                       colon; `host_port` is not of its form
//   FailedPrecondition  there is no blocking pool, and a name to be looked up
//   ResourceExhausted   out of memory, or of threads
//   Internal            the name servers have failed for good
//
// and what `absl::ErrnoToStatus()` makes of the errors of system calls.
LookupHostFuture LookupHost(std::string_view host, uint16_t port);
LookupHostFuture LookupHost(std::string_view host_port);

// The same on `pool`, which must live until the lookup has begun: until the
// first poll that finds budget left.
LookupHostFuture LookupHost(scheduler::BlockingPool& pool,
                            std::string_view host, uint16_t port);
LookupHostFuture LookupHost(scheduler::BlockingPool& pool,
                            std::string_view host_port);

// The future, for those who have to name it. Polling one that is finished is a
// `Panic()`.
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

  // The answer, if it takes no lookup, or there can be none; else `lookup_` is
  // on its way.
  std::optional<Result> Begin();

  scheduler::BlockingPool* pool_;
  std::string host_;
  uint16_t port_ = 0;
  absl::Status malformed_;
  bool finished_ = false;
  std::optional<JoinHandle<Result>> lookup_;
};

namespace internal {

// The error for `code` (EAI_...) of `getaddrinfo()`, and for `error` (errno),
// if `code` refers to that.
absl::Status LookupError(int code, int error, std::string_view host);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_NET_LOOKUP_HOST_H_
