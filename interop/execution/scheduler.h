// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scheduler.h
// -----------------------------------------------------------------------------
//
// Makes a scheduler, for `std::execution` or a library like it, of a runtime:
//
//   rouse::interop::Scheduler<Stdexec> rouse(runtime.handle());
//   auto work = stdexec::schedule(rouse) | stdexec::then(Compute);
//
// `Stdexec` says which library: see library.h.

#ifndef ROUSE_INTEROP_EXECUTION_SCHEDULER_H_
#define ROUSE_INTEROP_EXECUTION_SCHEDULER_H_

#include "rouse/base/cxx20.h"

#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/future/ready.h"
#include "rouse/interop/execution/as_sender.h"
#include "rouse/interop/execution/library.h"
#include "rouse/runtime/handle.h"

namespace rouse::interop {

template <ExecutionLibrary L>
class Scheduler;

// ScheduleSender
//
// See `Scheduler`.
template <ExecutionLibrary L>
class [[nodiscard]] ScheduleSender {
  using Begin = ReadyFuture<void>;

  class Env {
   public:
    explicit Env(Handle runtime) : runtime_(std::move(runtime)) {}

    template <class... Envs>
    Scheduler<L> query(typename L::template get_completion_scheduler_t<
                           typename L::set_value_t>,
                       const Envs&...) const noexcept {
      return Scheduler<L>(runtime_);
    }

   private:
    Handle runtime_;
  };

 public:
  using sender_concept = typename L::sender_concept;
  using completion_signatures = typename internal::SignaturesOf<L, void>::type;

  ScheduleSender(Handle runtime, std::source_location where)
      : runtime_(std::move(runtime)), where_(where) {}

  // The form of C++26. Earlier forms use the type of this name's result.
  template <class Self, class... Envs>
  static consteval completion_signatures get_completion_signatures() {
    return {};
  }

  // Returns an operation state for `receiver`.
  template <class R>
  internal::FutureOperation<L, Begin, std::decay_t<R>> connect(
      R&& receiver) const {
    return {runtime_, Begin(), std::forward<R>(receiver), where_};
  }

  // Returns the environment, which answers the query for the scheduler on which
  // the sender completes with a value.
  Env get_env() const noexcept { return Env(runtime_); }

 private:
  Handle runtime_;
  std::source_location where_;
};

// Scheduler
//
// Begins work as tasks of a runtime. A value: a handle that can be copied, and
// can outlive the runtime.
template <ExecutionLibrary L>
class Scheduler {
 public:
  using scheduler_concept = typename L::scheduler_concept;

  explicit Scheduler(Handle runtime) noexcept : runtime_(std::move(runtime)) {}

  // Returns a sender that completes its receiver in a new task of the runtime,
  // like `AsSender()` with a future that is ready at once. The receiver's work
  // is a part of the task's poll: it must not block, and other tasks of the
  // thread wait for it.
  ScheduleSender<L> schedule(
      std::source_location where = std::source_location::current()) const {
    return ScheduleSender<L>(runtime_, where);
  }

  // Returns the runtime in which the scheduler begins work.
  const Handle& runtime() const { return runtime_; }

  // Returns whether both schedulers begin work in the same runtime.
  friend bool operator==(const Scheduler& a, const Scheduler& b) {
    return a.runtime_.id() == b.runtime_.id();
  }

 private:
  Handle runtime_;
};

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_EXECUTION_SCHEDULER_H_
