// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/lookup_host.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/resolver/host_port.h"
#include "rouse/net/socket_addr.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using scheduler::BlockingPool;

namespace {

using Result = LookupHostFuture::Result;

constexpr std::string_view kCall = "LookupHost";

std::string CallOf(std::string_view host) {
  return absl::StrCat(kCall, "(\"", host, "\")");
}

// Looks up `host`. Blocks the calling thread.
Result Resolve(const std::string& host, uint16_t port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;  // otherwise an entry per socket type
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code != 0) return internal::LookupError(code, errno, host);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list,
                                                                 &freeaddrinfo);
  std::vector<SocketAddr> addrs;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    internal::AppendOnce(addrs, info->ai_addr, info->ai_addrlen, port);
  }
  if (addrs.empty()) return internal::LookupError(EAI_NONAME, 0, host);
  return addrs;
}

}  // namespace

namespace internal {

absl::Status LookupError(int code, int error, std::string_view host) {
  const std::string call = CallOf(host);
  switch (code) {
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
      return absl::NotFoundError(
          absl::StrCat(call, ": the name does not exist or has no address"));
    case EAI_AGAIN:
      return absl::UnavailableError(
          absl::StrCat(call, ": no name server answered; try again later"));
    case EAI_MEMORY:
      return absl::ResourceExhaustedError(
          absl::StrCat(call, ": out of memory"));
    case EAI_SYSTEM:
      return absl::ErrnoToStatus(error, call);
    default:
      return absl::InternalError(absl::StrCat(call, ": ", gai_strerror(code)));
  }
}

}  // namespace internal

LookupHostFuture LookupHost(std::string_view host, uint16_t port) {
  return LookupHostFuture(nullptr, host, port);
}

LookupHostFuture LookupHost(std::string_view host_port) {
  return LookupHostFuture(nullptr, host_port);
}

LookupHostFuture LookupHost(BlockingPool& pool, std::string_view host,
                            uint16_t port) {
  return LookupHostFuture(&pool, host, port);
}

LookupHostFuture LookupHost(BlockingPool& pool, std::string_view host_port) {
  return LookupHostFuture(&pool, host_port);
}

LookupHostFuture::LookupHostFuture(BlockingPool* pool,
                                   std::string_view host_port)
    : pool_(pool) {
  absl::StatusOr<internal::HostPort> split =
      internal::SplitHostPort(kCall, host_port);
  if (!split.ok()) {
    malformed_ = std::move(split).status();
    return;
  }
  host_ = std::move(split->host);
  port_ = split->port;
}

std::optional<Result> LookupHostFuture::Begin() {
  if (!malformed_.ok()) return malformed_;
  std::optional<Result> answer =
      internal::LookupWithoutServer(kCall, host_, port_);
  if (answer.has_value()) return answer;
  BlockingPool* pool = pool_;
  if (pool == nullptr) {
    BlockingPool* const current = scheduler::CurrentBlockingPool();
    // Separate threads, so that silent servers cannot block other calls.
    if (current != nullptr) pool = &current->lookups();
  }
  if (pool == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(CallOf(host_),
                     ": this thread has no blocking pool; await LookupHost() "
                     "in a task or inside Runtime::BlockOn, or pass a pool"));
  }
  auto call = [host = host_, port = port_] { return Resolve(host, port); };
  lookup_.emplace(pool->Spawn(std::move(call)));
  return std::nullopt;
}

PollResult<Result> LookupHostFuture::Poll(Context& cx) {
  if (finished_) internal::PanicFinished("LookupHost");
  if (!lookup_.has_value()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (std::optional<Result> answer = Begin()) {
      unit->MadeProgress();
      finished_ = true;
      return *std::move(answer);
    }
  }
  PollResult<Result> result = lookup_->Poll(cx);
  if (result.IsPending()) return kPending;
  finished_ = true;
  if (absl::IsCancelled(result->status())) {
    return Result(absl::UnavailableError(
        absl::StrCat(CallOf(host_), ": the blocking pool has been shut down")));
  }
  return result;
}

}  // namespace rouse
