// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fiber.h
// -----------------------------------------------------------------------------
//
// Fibers for the threads of a model. A fiber is a stack, and a single system
// thread switches between the stacks in about ten nanoseconds. With
// `Kind::kThread`, for a debugger, a fiber is a system thread, and the threads
// pass a baton round. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_FIBER_H_
#define ROUSE_TESTING_MODEL_FIBER_H_

#include "rouse/base/cxx20.h"

#include <functional>
#include <memory>

namespace rouse::model {

// Fiber
class Fiber {
 public:
  enum class Kind { kStack, kThread };

  // Returns a fiber for the calling thread.
  static std::unique_ptr<Fiber> Main(Kind kind);

  // Returns a fiber that runs `body` after the first switch to the fiber.
  // `body` must not return.
  static std::unique_ptr<Fiber> New(Kind kind, std::function<void()> body);

  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  // Does not destroy the objects on the fiber's stack. (A system thread is left
  // behind, asleep.)
  //
  // REQUIRES: the fiber does not run.
  virtual ~Fiber() = default;

  // Switches to the fiber `to`. Returns when a fiber switches back.
  //
  // REQUIRES: this is the running fiber.
  virtual void SwitchTo(Fiber& to) = 0;

 protected:
  Fiber() = default;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_FIBER_H_
