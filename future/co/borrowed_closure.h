// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: borrowed_closure.h
// -----------------------------------------------------------------------------
//
// Reports whether a future uses the captures of a lambda that other code owns.
// Internal to this project.
//
// A lambda's captures are in the lambda, not in the coroutine made by a call of
// the lambda. A `Co` that is awaited where it is made is destroyed before the
// lambda. A task can live longer than the lambda, so code that spawns a task
// checks first.

#ifndef ROUSE_FUTURE_CO_BORROWED_CLOSURE_H_
#define ROUSE_FUTURE_CO_BORROWED_CLOSURE_H_

#include <source_location>
#include <string_view>
#include <type_traits>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse::internal {

// IsLambda()
//
// Returns whether `T` is the type of a lambda, according to the compiler's name
// of `T`: "SCOPE::(lambda at FILE:LINE:COLUMN)", where clang leaves out the
// scope of a function, or "SCOPE::<lambda(PARAMETERS)>". `T` may be incomplete,
// as it is in the lambda's own body.
template <class T>
consteval bool IsLambda() {
  std::string_view name = __PRETTY_FUNCTION__;
  // "... [T = (lambda at f.cc:1:2)]", "... [with T = f()::<lambda(int)>]"
  name.remove_prefix(name.find("T = ") + 4);
#if defined(__clang__)
  return name.ends_with(")]") && name.find("(lambda at ") != name.npos;
#else
  return name.ends_with(")>]") && name.find("<lambda(") != name.npos;
#endif
}

// The compiler's name of a lambda is not specified and may change.
static_assert(IsLambda<decltype([] {})>());

// Names the function type of a call operator, without its class. The type is
// const if the operator is. The class is left out because clang 19 takes the
// class of a lambda in a template for a different class. The type is void for
// an operator that cannot be a coroutine: a static operator, or an operator
// with C's "...".
template <class Call>
struct CallSignature {
  using type = void;
};
template <class R, class C, class... Args>
struct CallSignature<R (C::*)(Args...)> {
  using type = R(Args...);
};
template <class R, class C, class... Args>
struct CallSignature<R (C::*)(Args...) const> {
  using type = R(Args...) const;
};
template <class R, class C, class... Args>
struct CallSignature<R (C::*)(Args...) noexcept> {
  using type = R(Args...);
};
template <class R, class C, class... Args>
struct CallSignature<R (C::*)(Args...) const noexcept> {
  using type = R(Args...) const;
};

// IsClosureOf()
//
// Returns whether `Lambda` has a call operator that takes `Args` and returns
// `R`. `Lambda` is const if the call operator must be const. If the result is
// false, a coroutine that returns `R` and has the parameters `Lambda&, Args...`
// does not belong to the lambda, but to another function to which the lambda
// was passed.
template <class R, class Lambda, class... Args>
constexpr bool IsClosureOf() {
  using Class = std::remove_const_t<Lambda>;
  using Signature =
      std::conditional_t<std::is_const_v<Lambda>, R(Args...) const, R(Args...)>;
  if constexpr (requires { &Class::operator(); }) {
    return std::is_same_v<
        typename CallSignature<decltype(&Class::operator())>::type, Signature>;
  } else {
    // The lambda is generic. The cast selects an operator by its signature, and
    // instantiates the operator's body only if the return type is deduced.
    return requires { static_cast<Signature Class::*>(&Class::operator()); };
  }
}

// BorrowsClosure()
//
// Returns whether `future`, or a future inside it, is a coroutine of a lambda
// with captures.
template <class F>
bool BorrowsClosure(const F& future) {
  if constexpr (requires { future.BorrowsClosure(); }) {
    return future.BorrowsClosure();
  } else {
    return false;
  }
}

[[noreturn]] ABSL_ATTRIBUTE_COLD inline void PanicBorrowsClosure(
    std::source_location where) {
  Panic(absl::StrCat(
      where.file_name(), ":", where.line(),
      ": the spawned coroutine uses the captures of a lambda, and the task may "
      "outlive the lambda; spawn the lambda itself, as in "
      "Spawn(std::move(lambda)) instead of Spawn(lambda()); if the lambda has "
      "parameters or outlives the task, spawn another lambda that calls it"));
}

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_CO_BORROWED_CLOSURE_H_
