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
// A thread of a model. The destructor joins the thread. A model has at most
// seven threads besides the main body.
class Thread {
 public:
  explicit Thread(absl::AnyInvocable<void() &&> body,
                  Site site = Site::current())
      : site_(site) {
    CHECK(Execution::current() != nullptr)
        << "a model::Thread was created outside a model";
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

  // Waits for the thread to end. A second call does nothing.
  void Join(Site site = Site::current()) {
    const int number = std::exchange(number_, kNone);
    if (number != kNone) Execution::current()->Join(number, site);
  }

  // Lets the thread continue on its own. The execution does not end before the
  // thread has ended.
  void Detach() { number_ = kNone; }

 private:
  static constexpr int kNone = -1;

  Site site_;
  int number_;
};

// Returns the number of the calling thread. The main body has number 0.
//
// REQUIRES: the call is in a model.
inline int ThreadNumber() { return Execution::current()->running(); }

// A loop that waits for another thread to change a value that the loop reads
// must call this function in each round.
inline void SpinHint(Site site = Site::current()) {
  if (Execution* execution = Execution::current()) execution->SpinHint(site);
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_THREAD_H_
