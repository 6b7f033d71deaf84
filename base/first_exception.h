// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: first_exception.h
// -----------------------------------------------------------------------------
//
// Runs several calls to the end, even if some of them throw:
//
//   FirstException first;
//   first.Catch([&] { pool.Close(); });
//   first.Catch([&] { driver.Shutdown(); });
//   first.Rethrow();

#ifndef ROUSE_BASE_FIRST_EXCEPTION_H_
#define ROUSE_BASE_FIRST_EXCEPTION_H_

#include <exception>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/exceptions.h"

namespace rouse {

// FirstException
//
// Keeps the first exception of several calls, and drops the others. Not
// thread-safe.
class FirstException {
 public:
  FirstException() = default;
  FirstException(const FirstException&) = delete;
  FirstException& operator=(const FirstException&) = delete;

  // Calls `f`, and keeps the exception of `f` unless an earlier exception is
  // kept.
  template <class F>
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Catch(F&& f) {
    ROUSE_TRY { std::forward<F>(f)(); }
    ROUSE_CATCH_ALL {
      if (exception_ == nullptr) exception_ = std::current_exception();
    }
  }

  // Throws the kept exception, if any.
  void Rethrow() {
    if (exception_ != nullptr) {
      std::rethrow_exception(std::exchange(exception_, nullptr));
    }
  }

 private:
  std::exception_ptr exception_;
};

}  // namespace rouse

#endif  // ROUSE_BASE_FIRST_EXCEPTION_H_
