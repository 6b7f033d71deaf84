// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fallback.h
// -----------------------------------------------------------------------------
//
// The reactor of those who have none. A socket that is opened on a thread
// without a current reactor is driven by a thread in the background, which is
// started for the first one. A program that drives a reactor itself says so
// before that:
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
// What `Handle::SetFallback()` was called for, or else a reactor in the
// background, which the first call starts and which runs until the process
// ends. If that fails the next call tries again:
//
//   ResourceExhausted   out of descriptors or memory
//   Unavailable         there can be no more threads
//
// FailedPrecondition in a process that has been forked off one in which it runs
// in the background: the thread is not in this one.
//
// Thread-safe. Costs four atomic operations, but for the first call.
absl::StatusOr<Handle> FallbackHandle();

// BindHandle()
//
// What an unbound handle stands for, for who makes sources of their own:
// `handle` itself if it is bound, else the thread's current one, else the
// fallback. Errors are those of `FallbackHandle()`, and FailedPrecondition
// within a `ScopedDefault` of an unbound handle, which says that there is to be
// none.
absl::StatusOr<Handle> BindHandle(const Handle& handle);

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_FALLBACK_H_
