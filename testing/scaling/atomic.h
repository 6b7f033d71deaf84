// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic.h
// -----------------------------------------------------------------------------
//
// `std::atomic` with a price for each access. Code under test uses
// `rouse::Atomic` (base/atomic.h), which is this class in the `*_scaling` twin
// of a target.

#ifndef ROUSE_TESTING_SCALING_ATOMIC_H_
#define ROUSE_TESTING_SCALING_ATOMIC_H_

#include <atomic>
#include <concepts>
#include <type_traits>

#include "rouse/testing/scaling/line_model.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::scaling {

// Pays for an access, unless the caller runs on no machine.
inline void Pay(Access access, const void* address, const Site& site) {
  if (Machine* const machine = Machine::current()) {
    machine->Do(access, address, site);
  }
}

// Atomic
//
// Like `std::atomic<T>`, but without wait and notify (see base/futex.h),
// volatile, and the operators that take no memory order. All accesses are in
// one order, so a memory order matters only for the price.
template <class T>
class Atomic {
 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr Atomic() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): like std::atomic
  constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  bool is_lock_free() const noexcept { return true; }

  // Like the function of this name in `std::atomic<T>`. `site` names the
  // access.
  T load(std::memory_order /*order*/ = std::memory_order_seq_cst,
         Site site = Site::current()) const noexcept {
    Pay(Access::kLoad, this, site);
    return value_;
  }

  // Like the function of this name in `std::atomic<T>`: see `load()`.
  void store(T value, std::memory_order order = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept {
    Pay(order == std::memory_order_seq_cst ? Access::kModify : Access::kStore,
        this, site);
    value_ = value;
  }

  // Like the function of this name in `std::atomic<T>`: see `load()`.
  T exchange(T value, std::memory_order /*order*/ = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept {
    return Modify(site, [value](T) { return value; });
  }

  // Like the functions of these names in `std::atomic<T>`: see `load()`. The
  // weak function does not fail for no reason.
  bool compare_exchange_strong(
      T& expected, T desired,
      std::memory_order /*success*/ = std::memory_order_seq_cst,
      Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, site);
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order /*success*/,
                               std::memory_order /*failure*/,
                               Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, site);
  }
  bool compare_exchange_weak(
      T& expected, T desired,
      std::memory_order /*success*/ = std::memory_order_seq_cst,
      Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, site);
  }
  bool compare_exchange_weak(T& expected, T desired,
                             std::memory_order /*success*/,
                             std::memory_order /*failure*/,
                             Site site = Site::current()) noexcept {
    return CompareExchange(expected, desired, site);
  }

  // Like the functions of these names in `std::atomic<T>`: see `load()`.
  T fetch_add(auto operand,
              std::memory_order /*order*/ = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires(std::integral<T> || std::is_pointer_v<T>)
  {
    return Modify(
        site, [operand](T value) { return static_cast<T>(value + operand); });
  }
  T fetch_sub(auto operand,
              std::memory_order /*order*/ = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires(std::integral<T> || std::is_pointer_v<T>)
  {
    return Modify(
        site, [operand](T value) { return static_cast<T>(value - operand); });
  }
  T fetch_and(T operand,
              std::memory_order /*order*/ = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires std::integral<T>
  {
    return Modify(
        site, [operand](T value) { return static_cast<T>(value & operand); });
  }
  T fetch_or(T operand, std::memory_order /*order*/ = std::memory_order_seq_cst,
             Site site = Site::current()) noexcept
    requires std::integral<T>
  {
    return Modify(
        site, [operand](T value) { return static_cast<T>(value | operand); });
  }
  T fetch_xor(T operand,
              std::memory_order /*order*/ = std::memory_order_seq_cst,
              Site site = Site::current()) noexcept
    requires std::integral<T>
  {
    return Modify(
        site, [operand](T value) { return static_cast<T>(value ^ operand); });
  }

 private:
  template <class F>
  T Modify(const Site& site, F f) noexcept {
    Pay(Access::kModify, this, site);
    const T before = value_;
    value_ = f(before);
    return before;
  }

  bool CompareExchange(T& expected, T desired, const Site& site) noexcept {
    Pay(Access::kModify, this, site);
    if (value_ == expected) {
      value_ = desired;
      return true;
    }
    expected = value_;
    return false;
  }

  T value_{};
};

// Runs the barrier of membarrier(2), which the machine always has.
inline void BarrierElsewhere() { Machine::current()->BarrierElsewhere(); }

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_ATOMIC_H_
