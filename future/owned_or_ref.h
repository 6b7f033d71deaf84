// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: owned_or_ref.h
// -----------------------------------------------------------------------------
//
// What a combinator is given. Internal to this project.

#ifndef ROUSE_FUTURE_OWNED_OR_REF_H_
#define ROUSE_FUTURE_OWNED_OR_REF_H_

#include <type_traits>
#include <utility>

namespace rouse::internal {

// OwnedOrRef
//
// A future or a stream that a function `f(X&& x)` was called with, where `X` is
// as deduced: an rvalue is moved in, an lvalue is referred to.
template <class X>
class OwnedOrRef {
  static_assert(std::is_move_constructible_v<X>,
                "a future that cannot be moved is passed by reference: name it "
                "and pass the name");

 public:
  explicit OwnedOrRef(X&& operand) : operand_(std::move(operand)) {}

  X& get() { return operand_; }
  const X& get() const { return operand_; }

 private:
  X operand_;
};

template <class X>
class OwnedOrRef<X&> {
 public:
  explicit OwnedOrRef(X& operand) : operand_(&operand) {}

  X& get() { return *operand_; }
  const X& get() const { return *operand_; }

 private:
  X* operand_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_OWNED_OR_REF_H_
