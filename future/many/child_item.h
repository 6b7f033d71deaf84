// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: child_item.h
// -----------------------------------------------------------------------------
//
// Makes a value that a container can hold of the output of any future.
// Internal to this project.

#ifndef ROUSE_FUTURE_MANY_CHILD_ITEM_H_
#define ROUSE_FUTURE_MANY_CHILD_ITEM_H_

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// kStaysInSet
//
// True for a type `F` whose objects are polled again after they were ready,
// until `HasEnded()` returns true.
template <class F>
inline constexpr bool kStaysInSet = false;

// ChildItem
//
// An output that a container or a `std::optional` can hold: a
// `std::reference_wrapper` in place of a reference, and `std::monostate` in
// place of void.
template <class T>
using ChildItem = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>,
                       std::reference_wrapper<std::remove_reference_t<T>>, T>>;

// ToChildItem()
//
// Returns the output of a result that is ready.
template <class T>
ChildItem<T> ToChildItem(PollResult<T>&& output) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return ChildItem<T>(*std::move(output));
  }
}

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_MANY_CHILD_ITEM_H_
