// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: io_future.h
// -----------------------------------------------------------------------------
//
// Internal to io/, net/, process/ and tls/: a future of a single operation on a
// stream or a socket.
//
//   struct PeekOp {
//     static constexpr std::string_view kName = "TcpStream::Peek()";
//     explicit PeekOp(absl::Span<char> buffer) : buffer(buffer) {}
//     auto operator()(const TcpStream& stream, Context& cx,
//                     reactor::Waiter* waiter) const {
//       return stream.PollPeek(cx, buffer, waiter);
//     }
//     absl::Span<char> buffer;
//   };
//   using PeekFuture = internal::IoFuture<const TcpStream, PeekOp>;

#ifndef ROUSE_IO_FD_IO_FUTURE_H_
#define ROUSE_IO_FD_IO_FUTURE_H_

#include <string_view>
#include <type_traits>

#include "absl/base/attributes.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// Panics for a future of `name` that is polled after it was ready.
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicFinished(std::string_view name);

// IoFuture
//
// `Op` has a name for a panic, and is called with the `S`, the context and a
// place to wait, until the operation is ready. Polling the future afterwards is
// a `Panic()`. Can be moved until its first poll.
template <class S, class Op>
class [[nodiscard(
    "an operation of a stream does nothing until it is awaited")]] IoFuture {
 public:
  // Constructs `Op` with `args`.
  template <class... Args>
  explicit IoFuture(S& stream, const Args&... args)
      : stream_(&stream), op_(args...) {}

  auto Poll(Context& cx) {
    // Clang 19 copies the result if its type is not named.
    using Result = std::invoke_result_t<Op&, S&, Context&, IoWaiter<S>*>;
    if (stream_ == nullptr) PanicFinished(Op::kName);
    Result result = op_(*stream_, cx, &waiter_);
    if (result.IsReady()) stream_ = nullptr;
    return result;
  }

 private:
  S* stream_;  // null when finished
  [[no_unique_address]] Op op_;
  [[no_unique_address]] IoWaiter<S> waiter_;
};

}  // namespace rouse::internal

#endif  // ROUSE_IO_FD_IO_FUTURE_H_
