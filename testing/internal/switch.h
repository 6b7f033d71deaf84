// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: switch.h
// -----------------------------------------------------------------------------
//
// Defines helpers for the tests of future/: futures whose end the test decides,
// and objects that log their destruction.

#ifndef ROUSE_TESTING_INTERNAL_SWITCH_H_
#define ROUSE_TESTING_INTERNAL_SWITCH_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/testing/poll_once.h"  // IWYU pragma: export
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

using Log = std::vector<std::string>;

// Appends its name to a log when destroyed.
class Local {
 public:
  Local(Log* log, std::string name) : log_(log), name_(std::move(name)) {}
  Local(Local&& other) noexcept
      : log_(std::exchange(other.log_, nullptr)),
        name_(std::move(other.name_)) {}
  Local& operator=(Local&&) = delete;
  ~Local() {
    if (log_ != nullptr) log_->push_back(name_);
  }

 private:
  Log* log_;
  std::string name_;
};

// Switch
//
// Makes one future, which becomes ready when the test calls `Set()`. The
// `Switch` must outlive the future.
//
//   Switch<int> s;
//   auto join = Join(s.future());
//   s.Set(1);
template <class T>
class Switch {
 public:
  class Leaf {
   public:
    explicit Leaf(Switch* owner) : owner_(owner) { owner_->alive_ = true; }
    Leaf(Leaf&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)) {}
    Leaf& operator=(Leaf&&) = delete;
    ~Leaf() {
      if (owner_ != nullptr) owner_->Gone();
    }

    PollResult<T> Poll(Context& cx) {
      ++owner_->polls_;
      if (!owner_->value_.has_value()) {
        owner_->waker_ = cx.waker().Clone();
        return kPending;
      }
      T value = *std::move(owner_->value_);
      owner_->value_.reset();
      return value;
    }

   private:
    Switch* owner_;
  };

  Switch() = default;
  // Appends `name` to `log` when the future is destroyed.
  Switch(Log* log, std::string name) : log_(log), name_(std::move(name)) {}
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  Leaf future() { return Leaf(this); }

  void Set(T value) {
    value_ = std::move(value);
    std::move(waker_).Wake();
  }

  int polls() const { return polls_; }
  // Returns whether the future exists.
  bool alive() const { return alive_; }

 private:
  void Gone() {
    alive_ = false;
    waker_.Reset();
    if (log_ != nullptr) log_->push_back(name_);
  }

  std::optional<T> value_;
  Waker waker_;
  int polls_ = 0;
  bool alive_ = false;
  Log* log_ = nullptr;
  std::string name_;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_SWITCH_H_
