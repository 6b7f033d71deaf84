// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: operand.h
// -----------------------------------------------------------------------------
//
// What a combinator is given. Internal to this project.

#ifndef ROUSE_FUTURE_OPERAND_H_
#define ROUSE_FUTURE_OPERAND_H_

#include <type_traits>
#include <utility>

namespace rouse::internal {

// Operand
//
// A future or a stream that a function `f(X&& x)` was called with, where `X` is
// as deduced: an rvalue is moved in, an lvalue is referred to.
template <class X>
class Operand {
  static_assert(std::is_move_constructible_v<X>,
                "a future that cannot be moved is passed by reference: name it "
                "and pass the name");

 public:
  explicit Operand(X&& operand) : operand_(std::move(operand)) {}

  X& get() { return operand_; }
  const X& get() const { return operand_; }

 private:
  X operand_;
};

template <class X>
class Operand<X&> {
 public:
  explicit Operand(X& operand) : operand_(&operand) {}

  X& get() { return *operand_; }
  const X& get() const { return *operand_; }

 private:
  X* operand_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_OPERAND_H_
