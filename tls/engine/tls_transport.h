// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_transport.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: the stream below a TLS connection, without its type.

#ifndef ROUSE_TLS_ENGINE_TLS_TRANSPORT_H_
#define ROUSE_TLS_ENGINE_TLS_TRANSPORT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/waiter.h"
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// TlsTransport
//
// Refers to a stream. A value. The functions are those of `AsyncRead` and
// `AsyncWrite`. `PollWrite()`, whose `data` must not be empty, returns Internal
// if the stream is ready but takes nothing.
class TlsTransport {
 public:
  template <class S>
    requires AsyncRead<S> && AsyncWrite<S>
  explicit TlsTransport(S& stream)
      : stream_(&stream), functions_(&kFunctions<S>) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) const {
    return functions_->read(stream_, cx, buffer);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) const {
    return functions_->write(stream_, cx, data);
  }
  PollResult<absl::Status> PollFlush(Context& cx) const {
    return functions_->flush(stream_, cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) const {
    return functions_->shutdown(stream_, cx);
  }

  // Returns the address of the peer, or "" if the stream knows none.
  std::string PeerAddress() const { return functions_->peer(stream_); }

 private:
  struct Functions {
    PollResult<absl::StatusOr<size_t>> (*read)(void*, Context&,
                                               absl::Span<char>);
    PollResult<absl::StatusOr<size_t>> (*write)(void*, Context&,
                                                std::string_view);
    PollResult<absl::Status> (*flush)(void*, Context&);
    PollResult<absl::Status> (*shutdown)(void*, Context&);
    std::string (*peer)(void*);
  };

  template <class S>
  static S& As(void* stream) {
    return *static_cast<S*>(stream);
  }

  template <class S>
  static std::string PeerAddressOf(S& stream) {
    if constexpr (requires { absl::StrCat(*stream.peer_addr()); }) {
      const auto addr = stream.peer_addr();
      if (addr.ok()) return absl::StrCat(*addr);
    }
    return std::string();
  }

  template <class S>
  static constexpr Functions kFunctions = {
      [](void* stream, Context& cx, absl::Span<char> buffer) {
        return As<S>(stream).PollRead(cx, buffer);
      },
      [](void* stream, Context& cx, std::string_view data) {
        IoWaiter<S>* const waiter = nullptr;
        return PollWriteSome(As<S>(stream), cx, data, waiter, "TlsStream");
      },
      [](void* stream, Context& cx) { return As<S>(stream).PollFlush(cx); },
      [](void* stream, Context& cx) { return As<S>(stream).PollShutdown(cx); },
      [](void* stream) { return PeerAddressOf(As<S>(stream)); },
  };

  void* stream_;
  const Functions* functions_;
};

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_TRANSPORT_H_
