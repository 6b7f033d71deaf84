// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread.h
// -----------------------------------------------------------------------------
//
// The threads of a model.

#ifndef ROUSE_TESTING_MODEL_THREAD_H_
#define ROUSE_TESTING_MODEL_THREAD_H_

#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/log/check.h"
#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Thread
//
// Joined when it is destroyed. A model has seven at the most, besides its main
// body.
class Thread {
 public:
  explicit Thread(absl::AnyInvocable<void() &&> body,
                  Site site = Site::current())
      : site_(site) {
    CHECK(Execution::current() != nullptr) << "a model's thread, in no model";
    number_ = Execution::current()->Spawn(std::move(body), site);
  }
  Thread(Thread&& other) noexcept
      : site_(other.site_), number_(std::exchange(other.number_, kNone)) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(site_, other.site_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Thread() { Join(site_); }

  // Waits for the thread to end. Does nothing the second time.
  void Join(Site site = Site::current()) {
    const int number = std::exchange(number_, kNone);
    if (number != kNone) Execution::current()->Join(number, site);
  }

  // Lets it go on by itself. The execution ends when it has ended.
  void Detach() { number_ = kNone; }

 private:
  static constexpr int kNone = -1;

  Site site_;
  int number_;
};

// The number of the calling thread; the main body has 0. In a model only.
inline int ThreadNumber() { return Execution::current()->running(); }

// For a loop that waits for another thread to change what it has read: such a
// loop must call it, each time round.
inline void SpinHint(Site site = Site::current()) {
  if (Execution* execution = Execution::current()) execution->SpinHint(site);
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_THREAD_H_
