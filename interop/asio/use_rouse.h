// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: use_rouse.h
// -----------------------------------------------------------------------------
//
// Makes a future of an operation of Asio, by a completion token:
//
//   rouse::Co<absl::Status> Greet(asio::ip::tcp::socket& socket) {
//     std::string text = "hello";
//     auto write = asio::async_write(socket, asio::buffer(text),
//                                    rouse::interop::use_rouse);
//     co_await rouse::OrReturn(write);
//     ...
//   }

#ifndef ROUSE_INTEROP_ASIO_USE_ROUSE_H_
#define ROUSE_INTEROP_ASIO_USE_ROUSE_H_

#include "rouse/base/cxx20.h"

#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "asio/async_result.hpp"
#include "asio/cancellation_signal.hpp"
#include "asio/cancellation_type.hpp"
#include "asio/dispatch.hpp"
#include "asio/error.hpp"
#include "asio/error_code.hpp"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/interop/awaited.h"
#include "rouse/interop/error_code.h"
#include "rouse/sync/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::interop {

// AsioStatus()
//
// Returns the status of an error of Asio: kOutOfRange for the end of a stream
// (`asio::error::eof`), and otherwise what `ToStatus()` returns, such as
// kCancelled for `asio::error::operation_aborted`.
inline absl::Status AsioStatus(const asio::error_code& error) {
  // Asio has a category of its own for errnos.
  if (error.category() == asio::error::get_system_category()) {
    return ToStatus(std::error_code(error.value(), std::system_category()));
  }
  absl::Status status = ToStatus(error);
  if (error != asio::error::eof) return status;
  return absl::OutOfRangeError(status.message());
}

// UseRouse
//
// A completion token: see `use_rouse`.
template <class Kept = std::monostate>
class UseRouse {
 public:
  constexpr UseRouse() = default;
  constexpr explicit UseRouse(Kept kept) : kept_(std::move(kept)) {}

  // Returns a token that keeps `object` until the operation has ended, even if
  // the future is destroyed before. For an owner of the operation's buffers and
  // I/O object:
  //
  //   const auto session = std::make_shared<Session>(context);
  //   auto read = session->socket.async_read_some(
  //       asio::buffer(session->buffer),
  //       rouse::interop::use_rouse.Keep(session));
  template <class T>
  UseRouse<std::decay_t<T>> Keep(T&& object) const {
    return UseRouse<std::decay_t<T>>(std::forward<T>(object));
  }

  // Returns the object that the token keeps.
  Kept TakeKept() && { return std::move(kept_); }

 private:
  Kept kept_;
};

// use_rouse
//
// The completion token by which an operation of Asio returns a future of Rouse.
// The operation begins at the first poll, on the thread that polls. Its
// arguments are moved or copied into the future; what they refer to, such as
// buffers and I/O objects, must exist until the operation has ended. The
// operation ends on a thread of its executor; the task continues on its own
// runtime.
//
// The output follows the operation's signature:
//
//   void(error_code)             absl::Status
//   void(error_code, T)          absl::StatusOr<T>
//   void(error_code, T, U)       absl::StatusOr<std::tuple<T, U>>
//   void(std::exception_ptr, T)  T; the exception propagates from the poll
//   void(T), void()              T, void
//
// An operation that has an error and a value, such as a read that has read a
// part, gives only the error.
//
// Cancellation: destroying a pending future cancels the operation, by Asio's
// cancellation slot (`cancellation_type::terminal`), on the executor of the I/O
// object: at once if the caller runs in this executor, and soon otherwise. In
// the second case, the I/O object and the buffers must outlive the future,
// because the operation uses them until it has ended. Let `UseRouse::Keep()`
// have an owner of both. As Asio requires for every cancellation, one thread
// must run the executor, or the executor must be a strand. An operation whose
// initiation has no executor, or that does not support cancellation, runs to
// its end, and its result is discarded.
//
// Errors: those of the operation, by `AsioStatus()`; and kCancelled if the
// handler was destroyed without a call, as happens when the `io_context` is
// destroyed. If the output has no place for an error, that is a `Panic()`.
//
// Costs two allocations, and what Asio allocates for a handler.
inline constexpr UseRouse<> use_rouse;

namespace internal {

// The output of an operation, and how to make it of a handler's arguments.
template <class... Args>
struct HandlerOutput {
  static constexpr bool kHasStatus = false;
  using type = typename ValueOf<Args...>::type;
  using Result = Awaited<type>;

  template <class... Values>
  static Result Make(Values&&... values) {
    if constexpr (std::is_void_v<type>) {
      return Result(std::in_place_index<0>);
    } else {
      return Result(std::in_place_index<0>,
                    type(std::forward<Values>(values)...));
    }
  }
};
template <class... Args>
struct HandlerOutput<asio::error_code, Args...> {
  static constexpr bool kHasStatus = true;
  using Value = typename ValueOf<Args...>::type;
  using type = oneshot::Received<Value>;
  using Result = Awaited<type>;

  template <class... Values>
  static Result Make(const asio::error_code& error, Values&&... values) {
    if (error) return Result(std::in_place_index<0>, AsioStatus(error));
    if constexpr (std::is_void_v<Value>) {
      return Result(std::in_place_index<0>, absl::OkStatus());
    } else {
      return Result(std::in_place_index<0>,
                    Value(std::forward<Values>(values)...));
    }
  }
};
template <class... Args>
struct HandlerOutput<std::exception_ptr, Args...> {
  static constexpr bool kHasStatus = false;
  using type = typename ValueOf<Args...>::type;
  using Result = Awaited<type>;

  template <class... Values>
  static Result Make(std::exception_ptr exception, Values&&... values) {
    if (exception != nullptr) {
      return Result(std::in_place_index<1>, std::move(exception));
    }
    return HandlerOutput<Args...>::Make(std::forward<Values>(values)...);
  }
};

template <class Signature>
struct OutputOfSignature;
template <class R, class... Args>
struct OutputOfSignature<R(Args...)> {
  using type = HandlerOutput<std::decay_t<Args>...>;
};

// The cancellation of an operation, shared by the handler and the future. Used
// on the operation's executor, after the operation has begun.
struct AsioCancellation {
  asio::cancellation_signal signal;
  // True from when the handler is called or destroyed.
  bool ended = false;
};

// Sends the result of an operation. Move-only.
template <class Output, class Kept>
class AsioHandler {
  using Result = typename Output::Result;

 public:
  // Asio finds the slot by these names.
  using cancellation_slot_type = asio::cancellation_slot;
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return cancellation_->signal.slot();
  }

  AsioHandler(std::shared_ptr<AsioCancellation> cancellation,
              oneshot::Sender<Result> sender, Kept kept)
      : cancellation_(std::move(cancellation)),
        kept_(std::move(kept)),
        sender_(std::move(sender)) {}
  AsioHandler(AsioHandler&&) = default;
  AsioHandler& operator=(AsioHandler&&) = delete;
  // Destroyed without a call, if not moved from. The sender, which the members'
  // order destroys after this, lets the task continue.
  ~AsioHandler() {
    End();
    kept_.reset();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    // The arguments may refer to what `kept_` owns.
    Result result = Output::Make(std::forward<Args>(args)...);
    End();
    // Before the task continues, which may own what `kept_` refers to.
    kept_.reset();
    // False if the future was destroyed: the result is discarded.
    (void)sender_.Send(std::move(result));
  }

 private:
  void End() {
    if (cancellation_ == nullptr) return;
    // The operation's part of the slot refers to the I/O object.
    cancellation_->ended = true;
    cancellation_ = nullptr;
  }

  std::shared_ptr<AsioCancellation> cancellation_;
  std::optional<Kept> kept_;
  // Destroyed first: the future notices that the handler was destroyed.
  oneshot::Sender<Result> sender_;
};

// The executor on which an operation can be cancelled, if known.
template <class Initiation>
auto ExecutorOf(const Initiation& initiation) {
  if constexpr (requires { initiation.get_executor(); }) {
    return initiation.get_executor();
  } else {
    return std::monostate();
  }
}

}  // namespace internal

// AsioFuture
//
// See `use_rouse`. Can be moved until it is first polled.
template <class Signature, class Kept, class Initiation, class... Args>
class [[nodiscard]] AsioFuture {
  using HandlerOutput = typename internal::OutputOfSignature<Signature>::type;
  using Result = typename HandlerOutput::Result;
  using Executor =
      decltype(internal::ExecutorOf(std::declval<const Initiation&>()));

 public:
  using Output = typename HandlerOutput::type;

  template <class... Inits>
  explicit AsioFuture(Kept kept, Initiation initiation, Inits&&... args)
      : executor_(internal::ExecutorOf(initiation)),
        operation_(std::in_place, std::move(kept), std::move(initiation),
                   std::forward<Inits>(args)...) {}
  AsioFuture(AsioFuture&&) = default;
  AsioFuture& operator=(AsioFuture&&) = delete;
  ~AsioFuture() {
    if (cancellation_ != nullptr) Cancel();
  }

  PollResult<Output> Poll(Context& cx) {
    if (!result_.has_value()) Start();
    PollResult<absl::StatusOr<Result>> sent = result_->Poll(cx);
    if (sent.IsPending()) return kPending;
    cancellation_ = nullptr;
    if (!sent->ok()) return HandlerDestroyed();
    return internal::ReadyAwaited<Output>(**std::move(sent));
  }

 private:
  struct Operation {
    template <class... Inits>
    Operation(Kept k, Initiation i, Inits&&... a)
        : kept(std::move(k)),
          initiation(std::move(i)),
          args(std::forward<Inits>(a)...) {}

    Kept kept;
    Initiation initiation;
    std::tuple<Args...> args;
  };

  void Start() {
    auto [sender, receiver] = oneshot::Channel<Result>();
    const auto cancellation = std::make_shared<internal::AsioCancellation>();
    Operation operation = *std::move(operation_);
    operation_.reset();
    internal::AsioHandler<HandlerOutput, Kept> handler(
        cancellation, std::move(sender), std::move(operation.kept));
    result_.emplace(std::move(receiver));
    std::apply(
        [&](auto&... args) {
          std::move(operation.initiation)(std::move(handler),
                                          std::move(args)...);
        },
        operation.args);
    cancellation_ = cancellation;
  }

  void Cancel() {
    if constexpr (!std::is_same_v<Executor, std::monostate>) {
      // If the handler was called or destroyed, the executor's context may not
      // exist any more.
      if (result_->TryReceive().status().code() !=
          absl::StatusCode::kUnavailable) {
        return;
      }
      ROUSE_TRY {
        asio::dispatch(
            executor_, [cancellation = std::move(cancellation_)]() mutable {
              if (cancellation->ended) return;
              cancellation->signal.emit(asio::cancellation_type::terminal);
            });
      }
      // Memory is lacking: the operation runs to its end.
      ROUSE_CATCH_ALL {}
    }
  }

  PollResult<Output> HandlerDestroyed() {
    if constexpr (HandlerOutput::kHasStatus) {
      return Output(absl::CancelledError(
          "use_rouse: the handler of the Asio operation was destroyed without "
          "a call; keep the io_context until the operation has ended"));
    } else {
      Panic(
          "use_rouse: the handler of the Asio operation was destroyed without "
          "a call; keep the io_context until the operation has ended");
    }
  }

  [[no_unique_address]] Executor executor_;
  std::optional<Operation> operation_;  // empty after the first poll
  std::optional<oneshot::Receiver<Result>> result_;
  // Null before the start and after the end.
  std::shared_ptr<internal::AsioCancellation> cancellation_;
};

}  // namespace rouse::interop

namespace asio {

// Asio calls `initiate()` for an operation with the token `use_rouse`.
template <class Kept, class R, class... HandlerArgs>
class async_result<rouse::interop::UseRouse<Kept>, R(HandlerArgs...)> {
 public:
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    return rouse::interop::AsioFuture<R(HandlerArgs...), Kept,
                                      std::decay_t<Initiation>,
                                      std::decay_t<Args>...>(
        rouse::interop::UseRouse<Kept>(std::forward<Token>(token)).TakeKept(),
        std::forward<Initiation>(initiation), std::forward<Args>(args)...);
  }
};

}  // namespace asio

#endif  // ROUSE_INTEROP_ASIO_USE_ROUSE_H_
