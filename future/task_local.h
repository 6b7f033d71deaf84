// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_local.h
// -----------------------------------------------------------------------------
//
// A `TaskLocal<T>` is a variable of which each task can have a value of its
// own. Code sees a value if it runs in a scope of that value:
//
//   constinit rouse::TaskLocal<RequestId> request_id("request_id");
//
//   rouse::Co<> Serve(Request request) {
//     const RequestId id = request.id;
//     co_await request_id.Scope(id, Handle(std::move(request)));
//   }
//   ... anywhere below Handle() ...
//     LOG(INFO) << "request " << *request_id.Get() << ": no such user";
//
// A thread-local variable would not serve this purpose: between two polls, a
// task can move to another thread, and other tasks run on the first thread.
//
// # Scopes
//
// A scope consists of all polls of the future that was passed to `Scope()`, and
// of the destruction of that future. Scopes nest, and the innermost value of a
// key is in force. All code called from a poll sees the values of the poll,
// including the code in a `Join` of several futures and in a `BlockOn()`.
//
// A spawned task does not see the values, because the task is polled elsewhere
// and can outlive the scope. `InheritTaskLocals()` gives the task a copy of
// each value:
//
//   rouse::Spawn(rouse::InheritTaskLocals(Audit(request)));

#ifndef ROUSE_FUTURE_TASK_LOCAL_H_
#define ROUSE_FUTURE_TASK_LOCAL_H_

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Describes how to copy and destroy a value of type `T`. `copy` is null if `T`
// cannot be copied.
struct TaskLocalType {
  void* (*copy)(const void* value);
  void (*destroy)(void* value);
};

// Standard containers claim to be copyable even if their elements are not, so
// the elements are checked too.
template <class T>
inline constexpr bool kIsCopyable = std::copy_constructible<T>;
template <class T>
  requires(!std::same_as<typename T::value_type, T>)
inline constexpr bool kIsCopyable<T> =
    std::copy_constructible<T> && kIsCopyable<typename T::value_type>;

template <class T>
inline constexpr TaskLocalType kTaskLocalType = {
    nullptr, [](void* value) { delete static_cast<T*>(value); }};
template <class T>
  requires kIsCopyable<T>
inline constexpr TaskLocalType kTaskLocalType<T> = {
    [](const void* value) -> void* {
      return new T(*static_cast<const T*>(value));
    },
    [](void* value) { delete static_cast<T*>(value); }};

// Holds one value in force. A link lives on the stack of the polling code, or
// in the set of inherited values.
struct TaskLocalLink {
  const void* key;
  void* value;  // null hides the value of an outer scope
  const TaskLocalType* type;
  const TaskLocalLink* outer;
};

// Returns the innermost value in force on this thread, or null.
const TaskLocalLink* CurrentTaskLocals();

// Returns the calling thread's variable with the result of
// `CurrentTaskLocals()`. For code that stays on the thread, and often needs the
// value.
const TaskLocalLink* const* CurrentTaskLocalsPlace();

// Returns whether every value in force on this thread can be copied.
bool CanInheritTaskLocals();

// Returns the value of `key` that is in force, or null.
void* FindTaskLocal(const void* key);

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicNoTaskLocal(std::string_view name);

// ScopedTaskLocals
//
// Makes `innermost` the innermost value in force on this thread while the guard
// lives. If null, no value is in force. Null is for code that runs tasks inside
// a call that a scope may surround, where the tasks are not part of the scope.
class ScopedTaskLocals {
 public:
  explicit ScopedTaskLocals(const TaskLocalLink* innermost);
  ScopedTaskLocals(const ScopedTaskLocals&) = delete;
  ScopedTaskLocals& operator=(const ScopedTaskLocals&) = delete;
  ~ScopedTaskLocals();

 private:
  const TaskLocalLink* const outer_;
};

// Holds copies of the values that were in force where the object was made.
class InheritedTaskLocals {
 public:
  InheritedTaskLocals();
  InheritedTaskLocals(InheritedTaskLocals&&) = default;
  InheritedTaskLocals& operator=(InheritedTaskLocals&&) = delete;

  // Returns the innermost of the copies, placed inside the values in force on
  // this thread.
  const TaskLocalLink* Innermost();

 private:
  using Value = std::unique_ptr<void, void (*)(void*)>;

  std::vector<Value> values_;
  // The `outer` of each link is the next link.
  std::vector<TaskLocalLink> links_;
};

}  // namespace internal

template <class T, class F>
class TaskLocalFuture;

// TaskLocal
//
// Identifies a variable. Keys are compared by address, so a key must be a
// static object, or must outlive all its scopes. Thread-safe, because all state
// is elsewhere.
//
// Entering and leaving a scope allocates nothing. Looking a value up takes time
// in proportion to the number of scopes that are nested at that point.
//
// A `T` that claims to be copyable must be copyable, because
// `InheritTaskLocals()` copies values. A struct with a container of
// non-copyable elements, such as a `std::vector<std::unique_ptr<U>>`, makes the
// claim and then does not compile here; delete its copy constructor.
template <class T>
class TaskLocal {
  static_assert(std::is_object_v<T> && std::is_move_constructible_v<T>);

 public:
  // `name` appears in messages and must live as long as the key.
  constexpr explicit TaskLocal(std::string_view name) : name_(name) {}
  TaskLocal(const TaskLocal&) = delete;
  TaskLocal& operator=(const TaskLocal&) = delete;

  // Returns a future that runs `future` with `value` in force. The value is
  // destroyed with the returned future, unless `TakeValue()` has taken the
  // value.
  //
  // An rvalue is moved in and is destroyed when it is ready. An lvalue is
  // polled in place, must outlive the result, and is destroyed outside the
  // scope.
  template <Future F>
  TaskLocalFuture<T, F> Scope(T value, F&& future) const {
    return TaskLocalFuture<T, F>(*this, std::move(value),
                                 std::forward<F>(future));
  }

  // Calls `f()` with `value` in force and returns the result. If the result is
  // a future, its polls are outside the scope.
  template <std::invocable F>
  std::invoke_result_t<F> SyncScope(T value, F&& f) const {
    const internal::TaskLocalLink link{this, &value,
                                       &internal::kTaskLocalType<T>,
                                       internal::CurrentTaskLocals()};
    const internal::ScopedTaskLocals scope(&link);
    return std::invoke(std::forward<F>(f));
  }

  // Returns the value in force, or null if no value is in force. The pointer is
  // valid until the scope of the value ends or the value is taken. The value
  // belongs to this task alone.
  T* Get() const { return static_cast<T*>(internal::FindTaskLocal(this)); }

  // Calls `f(value)` with the value in force, a `T&`, and returns the result.
  // Outside every scope, the call is a `Panic()`.
  template <std::invocable<T&> F>
  std::invoke_result_t<F, T&> With(F&& f) const {
    T* const value = Get();
    if (value == nullptr) internal::PanicNoTaskLocal(name_);
    return std::invoke(std::forward<F>(f), *value);
  }

 private:
  std::string_view name_;
};

// TaskLocalFuture
//
// See `TaskLocal::Scope()`.
template <class T, class F>
class [[nodiscard]] TaskLocalFuture {
 public:
  TaskLocalFuture(const TaskLocal<T>& key, T value, F&& future)
      : key_(&key),
        value_(std::move(value)),
        future_(std::forward<F>(future)) {}
  TaskLocalFuture(TaskLocalFuture&&) = default;
  TaskLocalFuture& operator=(TaskLocalFuture&&) = delete;
  ~TaskLocalFuture() { DropFuture(); }

  PollResult<FutureOutput<F>> Poll(Context& cx) {
    if (!future_.has_value()) {
      Panic(
          "TaskLocal::Scope was polled after it completed; call Scope() again");
    }
    const internal::TaskLocalLink link = Link();
    const internal::ScopedTaskLocals scope(&link);
    PollResult<FutureOutput<F>> result = future_->get().Poll(cx);
    if (result.IsReady()) future_.reset();
    return result;
  }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(future_->get());
  }

  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) trace.Add(future_->get());
  }

  // Takes the value, if it has not been taken before. A future that has not
  // finished continues without a value, and does not see the value of an outer
  // scope.
  std::optional<T> TakeValue() { return std::exchange(value_, std::nullopt); }

 private:
  internal::TaskLocalLink Link() {
    return {key_, value_.has_value() ? &*value_ : nullptr,
            &internal::kTaskLocalType<T>, internal::CurrentTaskLocals()};
  }

  void DropFuture() {
    if (!future_.has_value()) return;
    const internal::TaskLocalLink link = Link();
    const internal::ScopedTaskLocals scope(&link);
    future_.reset();
  }

  const TaskLocal<T>* key_;
  std::optional<T> value_;
  std::optional<internal::OwnedOrRef<F>> future_;
};

// InheritTaskLocalsFuture
//
// See `InheritTaskLocals()`. `F` is a future, or a callable that returns a
// future.
template <class F>
class [[nodiscard]] InheritTaskLocalsFuture {
 public:
  explicit InheritTaskLocalsFuture(F&& future)
      : future_(std::in_place, std::move(future)) {}
  explicit InheritTaskLocalsFuture(const F& future)
      : future_(std::in_place, future) {}
  InheritTaskLocalsFuture(InheritTaskLocalsFuture&&) = default;
  InheritTaskLocalsFuture& operator=(InheritTaskLocalsFuture&&) = delete;
  ~InheritTaskLocalsFuture() {
    if (!future_.has_value()) return;
    const internal::ScopedTaskLocals scope(locals_.Innermost());
    future_.reset();
  }

  auto Poll(Context& cx) {
    if (!future_.has_value()) {
      Panic(
          "InheritTaskLocals was polled after it completed; call "
          "InheritTaskLocals() again");
    }
    const internal::ScopedTaskLocals scope(locals_.Innermost());
    auto result = future_->Poll(cx);
    if (result.IsReady()) future_.reset();
    return result;
  }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(*future_);
  }

  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) trace.Add(*future_);
  }

 private:
  internal::InheritedTaskLocals locals_;
  std::optional<internal::FutureFrom<F>> future_;
};

// InheritTaskLocals()
//
// Returns a future that runs `f`, which is a future or a callable that returns
// a future, with the values that are in force at the time of this call. The
// values are in force wherever the result is polled. For futures that are
// spawned.
//
// Each value is copied, so a task's changes to its own values are not visible
// to any other task. To share a value, make it a `std::shared_ptr`. A value
// whose type cannot be copied is not inherited. Costs a copy and an allocation
// for each value, and two further allocations. If no value is in force, the
// call costs nothing.
template <class F>
  requires IntoFuture<std::decay_t<F>>
InheritTaskLocalsFuture<std::decay_t<F>> InheritTaskLocals(F&& f) {
  return InheritTaskLocalsFuture<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_TASK_LOCAL_H_
