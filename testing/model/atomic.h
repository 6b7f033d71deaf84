// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic.h
// -----------------------------------------------------------------------------
//
// `std::atomic` for a model. Every operation is a step, and the checker
// explores the step's place among the other steps, and its outcome.
//
// Code under test uses `rouse::Atomic` (base/atomic.h), which is this class in
// the `*_model` twin of a target. Tests can use this class directly.

#ifndef ROUSE_TESTING_MODEL_ATOMIC_H_
#define ROUSE_TESTING_MODEL_ATOMIC_H_

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Atomic
//
// Like `std::atomic<T>`, but without wait and notify (see base/futex.h),
// volatile, and the operators that take no memory order. `T` has at most eight
// bytes and no padding. Outside a model, an Atomic is a plain variable.
template <class T>
class Atomic {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): T can be a pointer
  static constexpr size_t kSize = sizeof(T);
  static_assert(std::is_trivially_copyable_v<T> && kSize <= 8,
                "the model checker supports atomics of at most 8 bytes");

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr Atomic() noexcept : Atomic(T()) {}
  // NOLINTNEXTLINE(google-explicit-constructor): like std::atomic
  constexpr Atomic(T value, Site site = Site::current()) noexcept
      : value_(value) {
    if (!std::is_constant_evaluated()) {
      if (Execution* execution = Execution::current()) {
        execution->Construct(handle_, this, Word(value), "atomic", site);
      }
    }
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  constexpr ~Atomic() {
    if (!std::is_constant_evaluated()) {
      if (Execution* execution = Execution::current()) {
        execution->Destroy(handle_, Site::current());
      }
    }
  }

  // Returns true, like a processor that runs the code under test.
  bool is_lock_free() const noexcept { return true; }

  // Like the function of this name in `std::atomic<T>`. Each call is a step of
  // the model. `site` is shown in the trace of a failure.
  T load(std::memory_order order = std::memory_order_seq_cst,
         Site site = Site::current()) const noexcept {
    Execution* execution = Execution::current();
    if (execution == nullptr) return value_;
    return Value(execution->Load(handle_, this, Word(value_), order, site));
  }

  // Like the function of this name in `std::atomic<T>`: see `load()`.
  void store(T value, std::memory_order order = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept {
    if (Execution* execution = Execution::current()) {
      execution->Store(handle_, this, Word(value_), Word(value), order, site);
    } else {
      value_ = value;
    }
  }

  // Like the function of this name in `std::atomic<T>`: see `load()`.
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept {
    return Modify("exchange", order, site, [value](T) { return value; });
  }

  // Like the functions of these names in `std::atomic<T>`: see `load()`. The
  // weak function can fail for no reason (`Options::spurious_failures`).
  bool compare_exchange_strong(
      T& expected, T desired,
      std::memory_order success = std::memory_order_seq_cst,
      Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, success, FailureOf(success),
                           false, site);
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order success,
                               std::memory_order failure,
                               Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, success, failure, false, site);
  }
  bool compare_exchange_weak(
      T& expected, T desired,
      std::memory_order success = std::memory_order_seq_cst,
      Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, success, FailureOf(success), true,
                           site);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure,
                             Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, success, failure, true, site);
  }

  // Like the functions of these names in `std::atomic<T>`: see `load()`.
  T fetch_add(auto operand, std::memory_order order = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires(std::integral<T> || std::is_pointer_v<T>)
  {
    return Modify("fetch_add", order, site, [operand](T value) {
      return static_cast<T>(value + operand);
    });
  }
  T fetch_sub(auto operand, std::memory_order order = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires(std::integral<T> || std::is_pointer_v<T>)
  {
    return Modify("fetch_sub", order, site, [operand](T value) {
      return static_cast<T>(value - operand);
    });
  }
  T fetch_and(T operand, std::memory_order order = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires std::integral<T>
  {
    return Modify("fetch_and", order, site, [operand](T value) {
      return static_cast<T>(value & operand);
    });
  }
  T fetch_or(T operand, std::memory_order order = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept
    requires std::integral<T>
  {
    return Modify("fetch_or", order, site, [operand](T value) {
      return static_cast<T>(value | operand);
    });
  }
  T fetch_xor(T operand, std::memory_order order = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires std::integral<T>
  {
    return Modify("fetch_xor", order, site, [operand](T value) {
      return static_cast<T>(value ^ operand);
    });
  }

  // For futex.h.
  ObjectHandle& handle() const { return handle_; }
  uint64_t initial() const { return Word(value_); }

 private:
  static uint64_t Word(T value) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const void*>(&value), kSize);
    return word;
  }
  static T Value(uint64_t word) {
    T value;
    std::memcpy(static_cast<void*>(&value), &word, kSize);
    return value;
  }

  // Returns the order of failure that the standard derives from a single order
  // for both outcomes.
  static std::memory_order FailureOf(std::memory_order success) {
    if (success == std::memory_order_acq_rel) return std::memory_order_acquire;
    if (success == std::memory_order_release) return std::memory_order_relaxed;
    return success;
  }

  template <class Change>
  T Modify(std::string_view name, std::memory_order order, const Site& site,
           Change change) {
    Execution* execution = Execution::current();
    if (execution == nullptr) {
      const T before = value_;
      value_ = change(before);
      return before;
    }
    return Value(execution->Modify(
        handle_, this, Word(value_), order,
        [&](uint64_t word) { return Word(change(Value(word))); }, name, site));
  }

  bool CompareExchange(T& expected, T desired, std::memory_order success,
                       std::memory_order failure, bool weak, const Site& site) {
    Execution* execution = Execution::current();
    if (execution == nullptr) {
      if (Word(value_) == Word(expected)) {
        value_ = desired;
        return true;
      }
      expected = value_;
      return false;
    }
    uint64_t word = Word(expected);
    const bool succeeded =
        execution->CompareExchange(handle_, this, Word(value_), word,
                                   Word(desired), success, failure, weak, site);
    expected = Value(word);
    return succeeded;
  }

  // The first value in every execution. Outside a model, the current value.
  T value_;
  mutable ObjectHandle handle_;
};

// Like `std::atomic_thread_fence`.
inline void AtomicThreadFence(std::memory_order order,
                              Site site = Site::current()) noexcept {
  if (Execution* execution = Execution::current()) {
    execution->Fence(order, site);
  }
}

// Executes a full memory barrier in all threads of the model at once, wherever
// the threads are, like Linux's membarrier(2). The barriers in these threads
// synchronize with nothing.
inline void FenceAllThreads(Site site = Site::current()) noexcept {
  if (Execution* execution = Execution::current()) {
    execution->FenceAllThreads(site);
  }
}

// Returns whether the system supports `FenceAllThreads()`. The search chooses
// the answer, which is the same throughout an execution.
inline bool HasFenceAllThreads() {
  Execution* const execution = Execution::current();
  return execution != nullptr && execution->HasFenceAllThreads();
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_ATOMIC_H_
