// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: source.h
// -----------------------------------------------------------------------------
//
// A `Source` is an object that a `Registry` can register. A single descriptor
// is an `FdSource`. A source that consists of several descriptors, or needs
// additional work, implements the concept.

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
// Each function performs the operation of its name with the registry, for all
// descriptors of the source. A failed call leaves everything unchanged.
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
// Refers to a descriptor that another object owns. The owner must not close the
// descriptor before it has been deregistered. The kernel must be able to wait
// for descriptors of this kind: sockets, pipes, eventfds, terminals; not
// regular files.
class FdSource {
 public:
  explicit FdSource(int fd) : fd_(fd) {}

  // Returns the descriptor.
  int fd() const { return fd_; }

  // Performs the operation of this name with the registry, and returns its
  // error: see registry.h.
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
