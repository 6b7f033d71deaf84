// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mini_library.h
// -----------------------------------------------------------------------------
//
// For tests: a small library of senders and receivers, after C++26. Like those
// of real libraries, the customization points call member functions, and check
// noexcept where C++26 requires noexcept.

#ifndef ROUSE_INTEROP_EXECUTION_MINI_LIBRARY_H_
#define ROUSE_INTEROP_EXECUTION_MINI_LIBRARY_H_

#include <concepts>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace mini {

struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};

struct set_value_t {
  template <class R, class... Args>
    requires(!std::is_lvalue_reference_v<R>)
  void operator()(R&& receiver, Args&&... args) const noexcept {
    static_assert(noexcept(
        std::forward<R>(receiver).set_value(std::forward<Args>(args)...)));
    std::forward<R>(receiver).set_value(std::forward<Args>(args)...);
  }
};
struct set_error_t {
  template <class R, class E>
    requires(!std::is_lvalue_reference_v<R>)
  void operator()(R&& receiver, E&& error) const noexcept {
    static_assert(
        noexcept(std::forward<R>(receiver).set_error(std::forward<E>(error))));
    std::forward<R>(receiver).set_error(std::forward<E>(error));
  }
};
struct set_stopped_t {
  template <class R>
    requires(!std::is_lvalue_reference_v<R>)
  void operator()(R&& receiver) const noexcept {
    static_assert(noexcept(std::forward<R>(receiver).set_stopped()));
    std::forward<R>(receiver).set_stopped();
  }
};

struct empty_env {};
struct get_env_t {
  template <class T>
  auto operator()(const T& object) const noexcept {
    if constexpr (requires { object.get_env(); }) {
      static_assert(noexcept(object.get_env()));
      return object.get_env();
    } else {
      return empty_env();
    }
  }
};

// ---- Stop tokens.

struct never_stop_token {
  struct callback {
    template <class F>
    callback(never_stop_token, F&&) {}
  };
  template <class F>
  using callback_type = callback;
  static constexpr bool stop_requested() noexcept { return false; }
  static constexpr bool stop_possible() noexcept { return false; }
  friend bool operator==(const never_stop_token&,
                         const never_stop_token&) = default;
};

template <class F>
class stop_callback;

class stop_source {
 public:
  class token {
   public:
    template <class F>
    using callback_type = stop_callback<F>;
    explicit token(const stop_source* source) : source_(source) {}
    bool stop_requested() const noexcept { return source_->stop_requested(); }
    static constexpr bool stop_possible() noexcept { return true; }
    friend bool operator==(const token&, const token&) = default;

   private:
    template <class F>
    friend class stop_callback;
    const stop_source* source_;
  };

  stop_source() = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;

  token get_token() const noexcept { return token(this); }
  bool stop_requested() const noexcept {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  bool request_stop() noexcept {
    std::unique_lock lock(mutex_);
    if (stopped_) return false;
    stopped_ = true;
    thread_ = std::this_thread::get_id();
    while (!callbacks_.empty()) {
      running_ = callbacks_.front();
      callbacks_.pop_front();
      lock.unlock();
      running_->Run();
      lock.lock();
      running_ = nullptr;
      has_run_.notify_all();
    }
    return true;
  }

 private:
  template <class F>
  friend class stop_callback;
  struct callback_base {
    virtual void Run() noexcept = 0;

   protected:
    ~callback_base() = default;
  };

  // Returns false if a stop was requested.
  bool Add(callback_base* callback) const {
    const std::lock_guard lock(mutex_);
    if (!stopped_) callbacks_.push_back(callback);
    return !stopped_;
  }
  // Waits for the callback if another thread runs it.
  void Remove(callback_base* callback) const {
    std::unique_lock lock(mutex_);
    callbacks_.remove(callback);
    if (thread_ == std::this_thread::get_id()) return;
    has_run_.wait(lock, [&] { return running_ != callback; });
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable has_run_;
  mutable std::list<callback_base*> callbacks_;
  bool stopped_ = false;
  callback_base* running_ = nullptr;
  std::thread::id thread_;
};

template <class F>
class stop_callback final : stop_source::callback_base {
 public:
  template <class Init>
  stop_callback(stop_source::token token, Init&& init)
      : source_(token.source_), function_(std::forward<Init>(init)) {
    if (!source_->Add(this)) Run();
  }
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;
  ~stop_callback() { source_->Remove(this); }

 private:
  void Run() noexcept override { function_(); }

  const stop_source* source_;
  F function_;
};

template <class Token, class F>
using stop_callback_for_t = typename Token::template callback_type<F>;

struct get_stop_token_t {
  template <class Env>
  auto operator()(const Env& env) const noexcept {
    if constexpr (requires { env.query(*this); }) {
      static_assert(noexcept(env.query(*this)));
      return env.query(*this);
    } else {
      return never_stop_token();
    }
  }
};

// ---- Senders and operations.

template <class... Signatures>
struct completion_signatures {};

template <class S, class Env>
using completion_signatures_of_t =
    decltype(std::remove_reference_t<S>::template get_completion_signatures<
             S, Env>());

template <class S>
concept sender =
    std::move_constructible<std::remove_cvref_t<S>> &&
    std::derived_from<typename std::remove_cvref_t<S>::sender_concept,
                      sender_tag>;
template <class R>
concept receiver =
    std::is_nothrow_move_constructible_v<R> &&
    std::derived_from<typename R::receiver_concept, receiver_tag>;
template <class O>
concept operation_state = std::destructible<O> &&
                          std::derived_from<typename O::operation_state_concept,
                                            operation_state_tag> &&
                          requires(O& operation) {
                            {
                              operation.start()
                            } noexcept -> std::same_as<void>;
                          };

struct connect_t {
  template <sender S, class R>
    requires receiver<std::decay_t<R>>
  auto operator()(S&& s, R&& r) const {
    using Operation = decltype(std::forward<S>(s).connect(std::forward<R>(r)));
    static_assert(operation_state<Operation>);
    return std::forward<S>(s).connect(std::forward<R>(r));
  }
};
struct start_t {
  template <operation_state O>
  void operator()(O& operation) const noexcept {
    operation.start();
  }
};

template <class Tag>
struct get_completion_scheduler_t {
  template <class Env>
  auto operator()(const Env& env) const noexcept {
    return env.query(*this);
  }
};

template <class S>
concept scheduler =
    std::copyable<S> && std::equality_comparable<S> &&
    std::derived_from<typename S::scheduler_concept, scheduler_tag> &&
    requires(const S& s) {
      { s.schedule() } -> sender;
      {
        get_completion_scheduler_t<set_value_t>()(get_env_t()(s.schedule()))
      } -> std::same_as<S>;
    };

// The names, as interop/execution/library.h describes them.
struct Library {
  using sender_concept = mini::sender_tag;
  using receiver_concept = mini::receiver_tag;
  using operation_state_concept = mini::operation_state_tag;
  using scheduler_concept = mini::scheduler_tag;
  using connect_t = mini::connect_t;
  using start_t = mini::start_t;
  using set_value_t = mini::set_value_t;
  using set_error_t = mini::set_error_t;
  using set_stopped_t = mini::set_stopped_t;
  using get_env_t = mini::get_env_t;
  using get_stop_token_t = mini::get_stop_token_t;
  using stop_source = mini::stop_source;
  template <class Token, class F>
  using stop_callback_for_t = mini::stop_callback_for_t<Token, F>;
  template <class Tag>
  using get_completion_scheduler_t = mini::get_completion_scheduler_t<Tag>;
  template <class... Signatures>
  using completion_signatures = mini::completion_signatures<Signatures...>;
  template <class Sender, class Env>
  using completion_signatures_of_t =
      mini::completion_signatures_of_t<Sender, Env>;
};

}  // namespace mini

#endif  // ROUSE_INTEROP_EXECUTION_MINI_LIBRARY_H_
