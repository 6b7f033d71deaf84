// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: awaited.h
// -----------------------------------------------------------------------------
//
// Internal to interop/: carries the outcome of an await, or of an operation of
// another library, to a coroutine.

#ifndef ROUSE_INTEROP_AWAITED_H_
#define ROUSE_INTEROP_AWAITED_H_

#include "rouse/base/cxx20.h"

#include <cstdlib>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/base/config.h"
#include "rouse/waker/poll_result.h"

namespace rouse::interop::internal {

// An output or an exception. A reference is kept as a pointer.
template <class T>
using AwaitedValue = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>>;
template <class T>
using Awaited = std::variant<AwaitedValue<T>, std::exception_ptr>;

// Returns the output, or throws the exception.
template <class T>
T TakeAwaited(Awaited<T>&& awaited) {
  if (awaited.index() == 1) {
#ifdef ABSL_HAVE_EXCEPTIONS
    std::rethrow_exception(std::get<1>(std::move(awaited)));
#else
    std::abort();  // there are no exceptions
#endif
  }
  if constexpr (std::is_reference_v<T>) {
    return static_cast<T>(*std::get<0>(awaited));
  } else if constexpr (!std::is_void_v<T>) {
    return std::get<0>(std::move(awaited));
  }
}

// Ends a poll with what `TakeAwaited()` returns.
template <class T>
PollResult<T> ReadyAwaited(Awaited<T>&& awaited) {
  if constexpr (std::is_void_v<T>) {
    TakeAwaited<T>(std::move(awaited));
    return {};
  } else {
    return TakeAwaited<T>(std::move(awaited));
  }
}

// One value for the arguments with which an operation completes.
template <class... Args>
struct ValueOf {
  using type = std::tuple<std::decay_t<Args>...>;
};
template <class Arg>
struct ValueOf<Arg> {
  using type = std::decay_t<Arg>;
};
template <>
struct ValueOf<> {
  using type = void;
};

}  // namespace rouse::interop::internal

#endif  // ROUSE_INTEROP_AWAITED_H_
