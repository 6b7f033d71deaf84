// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: owned_or_ref.h
// -----------------------------------------------------------------------------
//
// Holds an argument of a combinator. Internal to this project.

#ifndef ROUSE_FUTURE_OWNED_OR_REF_H_
#define ROUSE_FUTURE_OWNED_OR_REF_H_

#include "rouse/base/cxx20.h"

#include <type_traits>
#include <utility>

namespace rouse::internal {

// OwnedOrRef
//
// Holds the future or stream that was passed to a function `f(X&& x)`, where
// `X` is the deduced type. An rvalue is moved in, and an lvalue is held by
// reference.
template <class X>
class OwnedOrRef {
  static_assert(std::is_move_constructible_v<X>,
                "a future that cannot be moved must be passed by reference: "
                "store the future in a variable, and pass the variable");

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
