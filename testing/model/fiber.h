// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fiber.h
// -----------------------------------------------------------------------------
//
// What the threads of a model run on: stacks that one system thread switches
// between, in about ten nanoseconds, or, for a debugger or ThreadSanitizer,
// system threads that hand one baton round. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_FIBER_H_
#define ROUSE_TESTING_MODEL_FIBER_H_

#include <functional>
#include <memory>

namespace rouse::model {

// Fiber
class Fiber {
 public:
  enum class Kind { kStack, kThread };

  // The calling thread's own.
  static std::unique_ptr<Fiber> Main(Kind kind);

  // One that runs `body`, which must not return, when it is first switched to.
  static std::unique_ptr<Fiber> New(Kind kind, std::function<void()> body);

  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  // For a fiber that has been switched away from. What is on its stack is not
  // destroyed. (A system thread is left behind, asleep.)
  virtual ~Fiber() = default;

  // Runs `to` in place of this one, the one that runs. Returns when something
  // switches back.
  virtual void SwitchTo(Fiber& to) = 0;

 protected:
  Fiber() = default;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_FIBER_H_
