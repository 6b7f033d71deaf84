// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_local.h
// -----------------------------------------------------------------------------
//
// A `TaskLocal<T>` is a variable that each task has a value of its own of, or
// none. What is to see a value is run in a scope of it:
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
// A thread-local variable would not do: between two polls a task may move to
// another thread, and other tasks run on this one.
//
// # What a scope is
//
// All polls of the future that it was given, and the future's destruction.
// Scopes nest; the innermost of a key is the one in force. Whatever is called
// from a poll sees its values, so also a `Join` of several futures and a
// `BlockOn()`.
//
// What is spawned does not: it is polled elsewhere, and may outlive the scope.
// `InheritTaskLocals()` gives it a copy of each value:
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

// Null where `T` cannot be copied.
struct TaskLocalType {
  void* (*copy)(const void* value);
  void (*destroy)(void* value);
};

// A container is said to be, whatever its elements are.
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

// One value in force. Lives on the stack of whoever polls, or in the set of
// what was inherited.
struct TaskLocalLink {
  const void* key;
  void* value;  // null hides that of an outer scope
  const TaskLocalType* type;
  const TaskLocalLink* outer;
};

// The innermost value in force on this thread, or null.
const TaskLocalLink* CurrentTaskLocals();

// The value of `key` that is in force, or null.
void* FindTaskLocal(const void* key);

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicNoTaskLocal(std::string_view name);

// ScopedTaskLocals
//
// Makes `innermost` what is in force on this thread, as long as the guard
// lives. Null: nothing is. That is for whoever runs tasks inside of a call that
// a scope may surround, of which they are no part.
class ScopedTaskLocals {
 public:
  explicit ScopedTaskLocals(const TaskLocalLink* innermost);
  ScopedTaskLocals(const ScopedTaskLocals&) = delete;
  ScopedTaskLocals& operator=(const ScopedTaskLocals&) = delete;
  ~ScopedTaskLocals();

 private:
  const TaskLocalLink* const outer_;
};

// Copies of what was in force where it was made.
class InheritedTaskLocals {
 public:
  InheritedTaskLocals();
  InheritedTaskLocals(InheritedTaskLocals&&) = default;
  InheritedTaskLocals& operator=(InheritedTaskLocals&&) = delete;

  // The innermost of them, inside of what is in force on this thread.
  const TaskLocalLink* Innermost();

 private:
  using Value = std::unique_ptr<void, void (*)(void*)>;

  std::vector<Value> values_;
  // Each one's `outer` is the next one.
  std::vector<TaskLocalLink> links_;
};

}  // namespace internal

template <class T, class F>
class TaskLocalFuture;

// TaskLocal
//
// The key. Compared by its address: it is a static object, or outlives all its
// scopes. Thread-safe, since all of its state is elsewhere.
//
// Entering and leaving a scope allocates nothing; looking a value up takes time
// in proportion to the number of scopes that are nested there.
//
// A `T` that says it can be copied must be: `InheritTaskLocals()` does. A
// struct with a container of what cannot, such as a
// `std::vector<std::unique_ptr<U>>`, says so and does not compile here; delete
// its copy constructor.
template <class T>
class TaskLocal {
  static_assert(std::is_object_v<T> && std::is_move_constructible_v<T>);

 public:
  // `name` is for messages, and lives as long as the key.
  constexpr explicit TaskLocal(std::string_view name) : name_(name) {}
  TaskLocal(const TaskLocal&) = delete;
  TaskLocal& operator=(const TaskLocal&) = delete;

  // A future that is `future`, with `value` in force. The value goes with the
  // future that is returned, unless `TakeValue()` has taken it.
  //
  // An rvalue is moved in, and destroyed when it is ready; an lvalue is polled
  // where it is, outlives the result, and is destroyed outside of the scope.
  template <Future F>
  TaskLocalFuture<T, F> Scope(T value, F&& future) const {
    return TaskLocalFuture<T, F>(*this, std::move(value),
                                 std::forward<F>(future));
  }

  // Calls `f()` with `value` in force, and gives what it returns. If that is a
  // future, its polls are outside of the scope.
  template <std::invocable F>
  std::invoke_result_t<F> SyncScope(T value, F&& f) const {
    const internal::TaskLocalLink link{this, &value,
                                       &internal::kTaskLocalType<T>,
                                       internal::CurrentTaskLocals()};
    const internal::ScopedTaskLocals scope(&link);
    return std::invoke(std::forward<F>(f));
  }

  // The value in force, or null if there is none. Valid until the scope that it
  // belongs to has ended, or its value was taken; of this task alone.
  T* Get() const { return static_cast<T*>(internal::FindTaskLocal(this)); }

  // Calls `f(value)` with the value in force, a `T&`, and gives what it
  // returns. Outside of every scope, a `Panic()`.
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
      Panic("TaskLocal::Scope: polled after it has finished; make a new one");
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

  // Takes the value, if it is still there. If the future has not finished it
  // goes on without one, not with that of an outer scope.
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
// See `InheritTaskLocals()`. `F` is a future, or a callable that returns one.
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
      Panic("InheritTaskLocals: polled after it has finished; make a new one");
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
// A future that is `f`, a future or a callable that returns one, with the
// values that are in force here and now in force for it, wherever it is polled:
// for what is spawned.
//
// Each value is copied, so what a task does to its own no other sees. One that
// is to be shared is a `std::shared_ptr`. A value whose type cannot be copied
// is not inherited. Costs a copy and an allocation for each value, and two
// allocations besides; nothing where none is in force.
template <class F>
  requires IntoFuture<std::decay_t<F>>
InheritTaskLocalsFuture<std::decay_t<F>> InheritTaskLocals(F&& f) {
  return InheritTaskLocalsFuture<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_TASK_LOCAL_H_
