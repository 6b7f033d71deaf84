// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_futures.h
// -----------------------------------------------------------------------------
//
// The results of tasks in a group, and the parts of the futures that give these
// results. A group is a `JoinSet`, a `JoinMap` or a `JoinQueue`. Internal to
// `scheduler/group/`, except for `JoinedTask`.
//
//   template <class T>
//   class JoinSet {
//     ...
//    private:
//     friend class internal::JoinWait<JoinSet>;
//
//     static constexpr std::string_view kName = "JoinSet";
//     void StopWaiting();                         // drops a registered waker
//     PollResult<void> PollDropNext(Context& cx);   // like PollNext(), but
//   };                                              // drops the result

#ifndef ROUSE_SCHEDULER_GROUP_JOIN_FUTURES_H_
#define ROUSE_SCHEDULER_GROUP_JOIN_FUTURES_H_

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// JoinedTask
//
// The outcome of a task of a group.
template <class T>
class JoinedTask {
 public:
  JoinedTask(TaskId id, JoinResult<T> result, std::exception_ptr exception,
             bool was_cancelled)
      : id(id),
        result(std::move(result)),
        exception(std::move(exception)),
        was_cancelled(was_cancelled) {}

  TaskId id;
  JoinResult<T> result;
  std::exception_ptr exception;  // null unless an exception ended the task
  bool was_cancelled;            // see `JoinHandle::was_cancelled()`

  // Formats the outcome without the output, for logs, such as "task 7: OK".
  template <class Sink>
  friend void AbslStringify(Sink& sink, const JoinedTask& task) {
    sink.Append(absl::StrCat("task ", task.id, ": "));
    if constexpr (std::is_same_v<JoinResult<T>, absl::Status>) {
      sink.Append(task.result.ToString());
    } else {
      sink.Append(task.result.status().ToString());
    }
  }
};

namespace internal {

// JoinWait
//
// The common part of a group's futures: a future waits for the group until the
// future has finished or is destroyed.
template <class Group>
class JoinWait {
 public:
  explicit JoinWait(Group& group) : group_(&group) {}
  JoinWait(JoinWait&& other) noexcept
      : group_(std::exchange(other.group_, nullptr)) {}
  JoinWait& operator=(JoinWait&&) = delete;
  ~JoinWait() {
    if (group_ != nullptr) group_->StopWaiting();
  }

  // Returns `poll(group)`. If the result is ready, the future has finished.
  // Panics if the future had finished before; `call` is the function of the
  // group that made the future.
  template <class F>
  auto Poll(const char* call, F poll) {
    if (ABSL_PREDICT_FALSE(group_ == nullptr)) PanicPolledAfterEnd(call);
    auto result = poll(*group_);
    if (result.IsReady()) group_ = nullptr;
    return result;
  }

  static PollResult<void> PollDropNext(Group& group, Context& cx) {
    return group.PollDropNext(cx);
  }

 private:
  [[noreturn]] ABSL_ATTRIBUTE_COLD ABSL_ATTRIBUTE_NOINLINE static void
  PanicPolledAfterEnd(const char* call) {
    Panic(absl::StrCat(Group::kName, "::", call,
                       " was polled after it completed; call ", call,
                       "() again"));
  }

  Group* group_;
};

// The future of `Next()`. Gives an `Item`.
template <class Group, class Item>
class [[nodiscard]] JoinNext {
 public:
  explicit JoinNext(Group& group) : wait_(group) {}

  PollResult<std::optional<Item>> Poll(Context& cx) {
    return wait_.Poll("Next",
                      [&cx](Group& group) { return group.PollNext(cx); });
  }

 private:
  JoinWait<Group> wait_;
};

// The future of `NextWithId()`.
template <class Group, class T>
class [[nodiscard]] JoinNextWithId {
 public:
  explicit JoinNextWithId(Group& group) : wait_(group) {}

  PollResult<std::optional<JoinedTask<T>>> Poll(Context& cx) {
    return wait_.Poll("NextWithId",
                      [&cx](Group& group) { return group.PollNextWithId(cx); });
  }

 private:
  JoinWait<Group> wait_;
};

// The future of `JoinAll()`.
template <class Group, class T>
class [[nodiscard]] JoinAllResults {
 public:
  explicit JoinAllResults(Group& group) : wait_(group) {}

  PollResult<std::vector<JoinResult<T>>> Poll(Context& cx) {
    using Results = std::vector<JoinResult<T>>;
    return wait_.Poll("JoinAll", [&](Group& group) -> PollResult<Results> {
      for (;;) {
        PollResult<std::optional<JoinResult<T>>> result = group.PollNext(cx);
        if (result.IsPending()) return kPending;
        if (!result->has_value()) return std::move(results_);
        results_.push_back(**std::move(result));
      }
    });
  }

 private:
  JoinWait<Group> wait_;
  std::vector<JoinResult<T>> results_;
};

// The future of `Shutdown()`.
template <class Group>
class [[nodiscard]] JoinShutdown {
 public:
  explicit JoinShutdown(Group& group) : wait_(group) {}

  PollResult<void> Poll(Context& cx) {
    return wait_.Poll("Shutdown", [&](Group& group) -> PollResult<void> {
      if (!std::exchange(aborted_, true)) group.AbortAll();
      while (!group.empty()) {
        if (wait_.PollDropNext(group, cx).IsPending()) return kPending;
      }
      return {};
    });
  }

 private:
  JoinWait<Group> wait_;
  bool aborted_ = false;
};

}  // namespace internal
}  // namespace rouse

#endif  // ROUSE_SCHEDULER_GROUP_JOIN_FUTURES_H_
