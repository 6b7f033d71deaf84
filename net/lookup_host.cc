// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/lookup_host.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket_addr.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using scheduler::BlockingPool;

namespace {

using Result = LookupHostFuture::Result;

// The limit of the domain name system, including the final dot.
constexpr size_t kLongestName = 254;

std::string CallOf(std::string_view host) {
  return absl::StrCat("LookupHost(\"", host, "\")");
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
    absl::StatusOr<SocketAddr> addr =
        SocketAddr::FromSockaddr(info->ai_addr, info->ai_addrlen);
    if (!addr.ok()) continue;
    const SocketAddr found = addr->WithPort(port);
    if (std::find(addrs.begin(), addrs.end(), found) == addrs.end()) {
      addrs.push_back(found);
    }
  }
  if (addrs.empty()) return internal::LookupError(EAI_NONAME, 0, host);
  return addrs;
}

// Parses the port at the end of a text.
std::optional<uint16_t> ParsePort(std::string_view text) {
  uint32_t port;
  if (text.empty() || text.size() > 5 ||
      !std::all_of(text.begin(), text.end(),
                   [](unsigned char c) { return absl::ascii_isdigit(c); }) ||
      !absl::SimpleAtoi(text, &port) || port > 65535) {
    return std::nullopt;
  }
  return static_cast<uint16_t>(port);
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
  const size_t colon = host_port.rfind(':');
  std::optional<uint16_t> port;
  std::string_view host;
  if (colon != std::string_view::npos) {
    host = host_port.substr(0, colon);
    port = ParsePort(host_port.substr(colon + 1));
    const bool in_brackets =
        host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (in_brackets) host = host.substr(1, host.size() - 2);
    // An address with a colon needs brackets, and nothing else can have them.
    if (in_brackets != (host.find(':') != std::string_view::npos) ||
        host.find_first_of("[]") != std::string_view::npos) {
      port.reset();
    }
  }
  if (!port.has_value() || host.empty()) {
    malformed_ = absl::InvalidArgumentError(
        absl::StrCat(CallOf(host_port),
                     ": not a host and port; write \"example.com:80\" or "
                     "\"[2001:db8::1]:80\""));
    return;
  }
  host_ = host;
  port_ = *port;
}

std::optional<Result> LookupHostFuture::Begin() {
  if (!malformed_.ok()) return malformed_;
  if (host_.empty() || host_.size() > kLongestName ||
      host_.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        CallOf(host_),
        ": not a name; a name has 1 to 254 characters, none of them zero"));
  }
  const bool is_ipv6 = host_.find(':') != std::string::npos;
  absl::StatusOr<SocketAddr> addr =
      SocketAddr::Parse(is_ipv6 ? absl::StrCat("[", host_, "]:", port_)
                                : absl::StrCat(host_, ":", port_));
  if (addr.ok()) return std::vector<SocketAddr>{*addr};
  if (is_ipv6) {
    return absl::InvalidArgumentError(
        absl::StrCat(CallOf(host_),
                     ": neither an IPv6 address nor a name; after %, write an "
                     "interface of this machine"));
  }
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
