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

// Continues `frame`, and the frames that follow, until the chain suspends.
bool RunFrom(Frame* frame, Frame& root, Context& cx) {
  for (;;) {
    if (!frame->finished) {
      frame->depth = 0;
      frame->Resume();
    }
    if (root.leaf != nullptr) return false;
    if (frame->finished) {
      ChildAwaiterBase* awaiter = frame->awaiter;
      if (awaiter == nullptr) return true;
      if (awaiter->vtable != nullptr) awaiter->vtable->ready(awaiter, cx);
      frame = awaiter->parent;
    } else if (root.to_start != nullptr) {
      frame = std::exchange(root.to_start, nullptr)->child;
    } else {
      return true;  // a generator has yielded
    }
  }
}

}  // namespace

#ifdef ABSL_HAVE_EXCEPTIONS
void Rethrow(Frame& frame) {
  std::rethrow_exception(std::exchange(frame.exception, nullptr));
}
#endif

bool PollChain(Frame& root, Context& cx) {
  if (!HasStackRoom()) [[unlikely]]
    PanicTooDeep();
  Frame* frame = &root;
  if (root.started()) [[likely]] {
    if (root.cx != nullptr) [[unlikely]]
      PanicPolledWithin();
    root.cx = &cx;
    if (Awaiter* leaf = root.leaf; leaf != nullptr) {
      if (!leaf->vtable->ready(leaf, cx)) {
        root.cx = nullptr;
        return false;
      }
      root.leaf = nullptr;
      frame = leaf->parent;
    }
  } else {
    root.root = &root;
    root.awaiter = nullptr;
    root.leaf = nullptr;
    root.to_start = nullptr;
    root.cx = &cx;
  }
  const bool suspended = RunFrom(frame, root, cx);
  root.cx = nullptr;
  return suspended;
}

void TraceChain(const Frame& root, AwaitTrace& trace) {
  std::vector<const Frame*> frames;
  const Frame* frame = root.leaf->parent;
  for (; frame != &root; frame = frame->awaiter->parent) {
    frames.push_back(frame);
  }
  trace.AddAwait(root.where);
  while (!frames.empty()) {
    trace.AddAwait(frames.back()->where);
    frames.pop_back();
  }
  root.leaf->vtable->trace(*root.leaf, trace);
}

void DestroyChain(Frame& root) {
  if (root.started()) {
    if (root.cx != nullptr) [[unlikely]]
      PanicDestroyedWithin();
    if (root.leaf != nullptr) {
      Frame* frame = root.leaf->parent;
      while (frame != &root) {
        ChildAwaiterBase* awaiter = frame->awaiter;
        awaiter->child = nullptr;
        frame->Destroy();
        frame = awaiter->parent;
      }
    }
  }
  root.Destroy();
}

}  // namespace rouse::internal
