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
      "a coroutine was polled from within its own poll; a future that it waits "
      "for may wake it, but not poll it");
}

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicDestroyedWithin() {
  Panic(
      "a coroutine was destroyed from within its own poll; a future that it "
      "waits for may have it destroyed after, by its owner");
}

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicTooDeep() {
  Panic(
      "the stack of the thread is nearly used up by coroutines that poll one "
      "another; recursion to any depth takes a plain `co_await Call()` of a "
      "temporary `Co`, and neither a named one nor a Join, Select or Timeout");
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
  bool suspended;
  if (root.started()) [[likely]] {
    if (root.cx != nullptr) [[unlikely]]
      PanicPolledWithin();
    root.cx = &cx;
    Frame* frame = &root;
    if (Awaiter* leaf = root.leaf; leaf != nullptr) {
      if (!leaf->vtable->ready(leaf, cx)) {
        root.cx = nullptr;
        return false;
      }
      root.leaf = nullptr;
      frame = leaf->parent;
    }
    suspended = RunFrom(frame, root, cx);
  } else {
    root.root = &root;
    root.awaiter = nullptr;
    root.leaf = nullptr;
    root.to_start = nullptr;
    root.cx = &cx;
    suspended = RunFrom(&root, root, cx);
  }
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
