// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_operation.h
// -----------------------------------------------------------------------------
//
// Internal to tls/engine/: a call of the TLS library in progress.

#ifndef ROUSE_TLS_ENGINE_TLS_OPERATION_H_
#define ROUSE_TLS_ENGINE_TLS_OPERATION_H_

#include <cstddef>

#include "rouse/base/first_exception.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_engine.h"
#include "rouse/tls/engine/tls_transport.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// TlsEngine::Operation
//
// A call of the library in progress: gives the BIO the stream and the context
// of the poll. Exceptions of the stream wait here until the library has
// returned.
class TlsEngine::Operation {
 public:
  Operation(TlsEngine& engine, const TlsTransport& transport, Context& cx,
            Kind kind)
      : engine_(engine), transport_(transport), cx_(cx), kind_(kind) {
    engine_.operation_ = this;
    // Errors of other users of the library on this thread are not ours.
    ERR_clear_error();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() { engine_.operation_ = nullptr; }

  const TlsTransport& transport() const { return transport_; }
  Context& cx() const { return cx_; }
  Kind kind() const { return kind_; }

  // Returns whether the library can read from the stream.
  bool can_read() const { return can_read_; }
  // Has the library use only bytes that it already has.
  void StopReading() { can_read_ = false; }

  // Counts bytes that the library has received.
  void AddReceived(size_t size) { received_ += size; }
  // Returns whether the library has received this many bytes without a result
  // that other tasks should run first.
  bool HasReceivedMuch() const { return received_ >= kMostWithoutResult; }

  // Runs `f` for the library. Keeps an exception, and returns -1 then.
  template <class F>
  int Call(F f) {
    int result = -1;
    // The library must not see errors that the stream's own code leaves.
    ERR_set_mark();
    bool returned = false;
    exception_.Catch([&] {
      result = f();
      returned = true;
    });
    threw_ = threw_ || !returned;
    ERR_pop_to_mark();
    return result;
  }
  // Returns whether a function that `Call()` ran has thrown.
  bool threw() const { return threw_; }
  // Throws the first exception that `Call()` has kept, if any.
  void Rethrow() { exception_.Rethrow(); }

 private:
  // Number of bytes that the library receives in one poll at most, while
  // nothing but messages for the library itself arrive.
  static constexpr size_t kMostWithoutResult = 64 << 10;

  TlsEngine& engine_;
  const TlsTransport& transport_;
  Context& cx_;
  const Kind kind_;
  bool can_read_ = true;
  bool threw_ = false;
  size_t received_ = 0;
  FirstException exception_;
};

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_OPERATION_H_
