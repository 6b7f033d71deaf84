// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/co/chain.h"

#include <exception>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "rouse/base/panic.h"
#include "rouse/base/stack_room.h"
#include "rouse/future/await_trace.h"
#include "rouse/waker/context.h"

namespace rouse::internal {
namespace {

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicPolledWithin() {
  Panic(
      "a coroutine was polled inside its own poll; a future that the coroutine "
      "awaits can wake the coroutine, but must not poll the coroutine");
}

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicDestroyedWithin() {
  Panic(
      "a coroutine was destroyed inside its own poll; let the coroutine's "
      "owner destroy the coroutine after the poll");
}

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicTooDeep() {
  Panic(
      "coroutines that poll one another have nearly used up the thread's "
      "stack; for recursion of any depth, await a temporary Co, as in "
      "`co_await Call()`, and not a named Co, a Join, a Select or a Timeout");
}

Frame* Polled() { return reinterpret_cast<Frame*>(Frame::kPolled); }

// Continues `frame`, and the frames that follow, until the chain suspends. If
// `kIsResumed`, `frame` has just been resumed.
template <bool kIsResumed = false>
bool RunFrom(Frame* frame, Frame& root, ChainRun& run) {
  for (bool is_resumed = kIsResumed;; is_resumed = false) {
    if (!is_resumed && !frame->finished()) {
      run.depth = 0;
      frame->run = &run;
      frame->Resume();
    }
    if (run.waiting != nullptr) {
      root.LinkTo(run.waiting);
      return false;
    }
    if (frame->finished()) {
      if (frame == &root) break;
      frame = frame->linked();
      Awaiter* const awaiter = frame->awaiter;
      if (awaiter->vtable != nullptr) {
        awaiter->vtable->ready(awaiter, *frame, run.cx);
      }
    } else if (run.to_start != nullptr) {
      frame = std::exchange(run.to_start, nullptr);
    } else {
      break;  // a generator has yielded
    }
  }
  root.LinkTo(nullptr);
  return true;
}

}  // namespace

#ifdef ABSL_HAVE_EXCEPTIONS
void Rethrow(std::exception_ptr& exception) {
  std::rethrow_exception(std::exchange(exception, nullptr));
}
#endif

bool PollChain(Frame& root, Context& cx) {
  if (!HasStackRoom()) [[unlikely]]
    PanicTooDeep();
  Frame* frame = root.linked();
  if (frame == Polled()) [[unlikely]]
    PanicPolledWithin();
  root.LinkTo(Polled());
  if (frame == nullptr) {
    frame = &root;
  } else {
    Awaiter* const leaf = frame->awaiter;
    if (!leaf->vtable->ready(leaf, *frame, cx)) {
      root.LinkTo(frame);
      return false;
    }
  }
  ChainRun run(cx);
  return RunFrom(frame, root, run);
}

bool ContinueStart(Frame& root, ChainRun& run) {
  return RunFrom</*kIsResumed=*/true>(&root, root, run);
}

void TraceChain(const Frame& root, AwaitTrace& trace) {
  std::vector<const Awaiter*> awaiters;
  for (const Frame* frame = root.linked();; frame = frame->linked()) {
    awaiters.push_back(frame->awaiter);
    if (frame == &root) break;
  }
  const Awaiter& leaf = *awaiters.front();
  while (!awaiters.empty()) {
    trace.AddAwait(awaiters.back()->where);
    awaiters.pop_back();
  }
  leaf.vtable->trace(leaf, trace);
}

void DestroyChain(Frame& root) {
  Frame* frame = root.linked();
  if (frame == Polled()) [[unlikely]]
    PanicDestroyedWithin();
  if (frame != nullptr) {
    while (frame != &root) {
      Frame* const parent = frame->linked();
      static_cast<ChildAwaiterBase*>(parent->awaiter)->child = nullptr;
      frame->Destroy();
      frame = parent;
    }
  }
  root.Destroy();
}

}  // namespace rouse::internal
