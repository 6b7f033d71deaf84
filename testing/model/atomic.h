// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic.h
// -----------------------------------------------------------------------------
//
// `std::atomic` for a model: every operation is a step whose place among the
// others, and whose outcome, the checker explores.
//
// Code under test names `rouse::Atomic` (base/atomic.h), which is this one in
// the `*_model` twin of its target. A test may name it directly.

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
// As `std::atomic<T>`, without wait and notify (see base/futex.h), volatile and
// the operators for which no memory order can be given. `T` has at most eight
// bytes and no padding. Outside of a model it is a plain variable.
template <class T>
class Atomic {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): also of a pointer
  static constexpr size_t kSize = sizeof(T);
  static_assert(std::is_trivially_copyable_v<T> && kSize <= 8,
                "the model checker has atomics of eight bytes at the most");

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr Atomic() noexcept : Atomic(T()) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic's
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

  bool is_lock_free() const noexcept { return true; }

  T load(std::memory_order order = std::memory_order_seq_cst,
         Site site = Site::current()) const noexcept {
    Execution* execution = Execution::current();
    if (execution == nullptr) return value_;
    return Value(execution->Load(handle_, this, Word(value_), order, site));
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept {
    if (Execution* execution = Execution::current()) {
      execution->Store(handle_, this, Word(value_), Word(value), order, site);
    } else {
      value_ = value;
    }
  }

  T exchange(T value, std::memory_order order = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept {
    return Modify("exchange", order, site, [value](T) { return value; });
  }

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

  // What the standard makes of one order for both outcomes.
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

  // The first value in every execution, and the only one outside of any.
  T value_;
  mutable ObjectHandle handle_;
};

// As `std::atomic_thread_fence`.
inline void AtomicThreadFence(std::memory_order order,
                              Site site = Site::current()) noexcept {
  if (Execution* execution = Execution::current()) {
    execution->Fence(order, site);
  }
}

// A full memory barrier in all threads of the model at one time, wherever they
// are: Linux's membarrier(2). Theirs synchronize with nothing.
inline void FenceAllThreads(Site site = Site::current()) noexcept {
  if (Execution* execution = Execution::current()) {
    execution->FenceAllThreads(site);
  }
}

// Whether the system has it. A choice of the search, which is the same for all
// of an execution.
inline bool HasFenceAllThreads() {
  Execution* const execution = Execution::current();
  return execution != nullptr && execution->HasFenceAllThreads();
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_ATOMIC_H_
