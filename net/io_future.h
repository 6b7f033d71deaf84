// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: io_future.h
// -----------------------------------------------------------------------------
//
// For net/ itself: a future of one operation on a socket.

#ifndef ROUSE_NET_IO_FUTURE_H_
#define ROUSE_NET_IO_FUTURE_H_

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// IoFuture
//
// `Op` has a constant `kName` for a panic, and is called with the socket, the
// context and a place to wait, until it is ready. Polling it after that is a
// `Panic()`. May be moved until it is polled.
template <class S, class Op>
class [[nodiscard]] IoFuture {
 public:
  IoFuture(const S& socket, Op op) : socket_(&socket), op_(std::move(op)) {}

  auto Poll(Context& cx) {
    if (socket_ == nullptr) {
      Panic(absl::StrCat(Op::kName,
                         " was polled after it had given its result; make "
                         "another one"));
    }
    auto result = op_(*socket_, cx, &waiter_);
    if (result.IsReady()) socket_ = nullptr;
    return result;
  }

 private:
  const S* socket_;  // null when finished
  Op op_;
  reactor::Waiter waiter_;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_IO_FUTURE_H_
