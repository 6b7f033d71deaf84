// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: source.h
// -----------------------------------------------------------------------------
//
// What a `Registry` registers. A source that is one descriptor is an
// `FdSource`; one that is several, or needs work of its own, implements the
// concept.

#ifndef ROUSE_REACTOR_POLL_SOURCE_H_
#define ROUSE_REACTOR_POLL_SOURCE_H_

#include <concepts>

#include "absl/status/status.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor {

class Registry;

// Source
//
// Each function does with the registry what its name says, for all that the
// source is made of. One that fails leaves things as they were.
template <class S>
concept Source = requires(S& source, const Registry& registry, Token token,
                          Interest interest) {
  { source.Register(registry, token, interest) } -> std::same_as<absl::Status>;
  {
    source.Reregister(registry, token, interest)
  } -> std::same_as<absl::Status>;
  { source.Deregister(registry) } -> std::same_as<absl::Status>;
};

// FdSource
//
// A descriptor that somebody else owns and sees closed after it has been
// deregistered. It must be of a kind that the kernel can wait for: sockets,
// pipes, eventfds, terminals; not regular files.
class FdSource {
 public:
  explicit FdSource(int fd) : fd_(fd) {}

  int fd() const { return fd_; }

  absl::Status Register(const Registry& registry, Token token,
                        Interest interest);
  absl::Status Reregister(const Registry& registry, Token token,
                          Interest interest);
  absl::Status Deregister(const Registry& registry);

 private:
  int fd_;
};

static_assert(Source<FdSource>);

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_SOURCE_H_
