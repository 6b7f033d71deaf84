// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fallback.h
// -----------------------------------------------------------------------------
//
// The fallback reactor, for threads without a current reactor. A socket that is
// opened on such a thread is driven by a background thread, which is started
// for the first such socket. A program that drives a reactor itself sets the
// fallback before that:
//
//   absl::StatusOr<reactor::Reactor> reactor = reactor::Reactor::Create();
//   absl::Status status = reactor->handle().SetFallback();

#ifndef ROUSE_REACTOR_FALLBACK_H_
#define ROUSE_REACTOR_FALLBACK_H_

#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"

namespace rouse::reactor {

// FallbackHandle()
//
// Returns the handle for which `Handle::SetFallback()` was called. If there is
// none, returns the handle of a background reactor, started by the first call
// and running until the process ends. If the start fails, the next call tries
// again:
//
//   ResourceExhausted   out of descriptors or memory
//   Unavailable         no more threads can be created
//
// Returns FailedPrecondition in a child forked from a process with such a
// background reactor, because the child does not have the thread.
//
// Thread-safe. Costs four atomic operations, except for the first call.
absl::StatusOr<Handle> FallbackHandle();

// BindHandle()
//
// Resolves a possibly unbound handle, for authors of new kinds of sources.
// Returns `handle` itself if bound, else the thread's current handle, else the
// fallback. Errors are those of `FallbackHandle()`, and FailedPrecondition
// within a `ScopedDefault` of an unbound handle, which rules out every reactor.
absl::StatusOr<Handle> BindHandle(const Handle& handle);

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_FALLBACK_H_
