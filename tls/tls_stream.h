// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_stream.h
// -----------------------------------------------------------------------------
//
// A `TlsStream` is a TLS connection over any other stream: a `TcpStream`, a
// `UnixStream`, an end of a `Duplex`, a stream of your own. A `TlsConnector` or
// a `TlsAcceptor` makes a `TlsStream`:
//
//   rouse::TcpStream tcp =
//       co_await rouse::OrReturn(rouse::ConnectTcp("example.com:443"));
//   rouse::TlsStream<rouse::TcpStream> tls = co_await rouse::OrReturn(
//       connector.Connect("example.com", std::move(tcp)));
//   co_await rouse::OrReturn(rouse::WriteAll(tls, request));
//   co_await rouse::OrReturn(rouse::Flush(tls));
//
// `TlsStream` models `AsyncRead` and `AsyncWrite`, so everything in rouse/io
// works with it. To read and write in different tasks, use `SplitLocked()`
// ("rouse/io/adapt/locked_split.h").

#ifndef ROUSE_TLS_TLS_STREAM_H_
#define ROUSE_TLS_TLS_STREAM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/tls/engine/connection_facts.h"
#include "rouse/tls/engine/tls_engine.h"
#include "rouse/tls/engine/tls_transport.h"
#include "rouse/tls/tls_version.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

struct ssl_st;

namespace rouse {

template <class S>
class TlsHandshake;

// TlsStream
//
// A TLS connection after its handshake. Owns the stream `S` below. Movable, but
// not while one of its futures is alive. A moved-from `TlsStream` can only be
// assigned to and destroyed. Not thread-safe: one task at a time uses it,
// except through the halves of a `SplitLocked()`.
//
// # Writing
//
// After its last write, a task must call `Flush()`, unless the task reads next
// or calls `Shutdown()`. A write that was destroyed while pending counts as a
// write. Without the call, up to 16 KiB of written bytes can stay in the
// `TlsStream`, and the peer can wait for these bytes forever. A `TcpStream`
// needs no flush, so code that moves to TLS must add one.
//
// A write encrypts up to 64 KiB, and passes the records to the stream below. If
// that stream has room for the records, the write leaves nothing behind. If the
// stream is full in the middle of a record, the `TlsStream` keeps the rest of
// the record, because a write that waited there would send the record even
// after being destroyed. The next write, `Flush()`, `Shutdown()`, and a read
// that waits send the rest.
//
// If only a part of a message for the library itself has arrived, such as a
// ticket, a write and `Shutdown()` wait for the rest of the message.
//
// # The end of the stream
//
// A read returns 0 after the peer has closed its direction with close_notify.
// If the stream below ends without close_notify, an attacker can have cut the
// connection, and the read returns DataLoss. Many servers of HTTP/1.1 send no
// close_notify. A client can ignore the error after the whole body.
//
// `Shutdown()` sends close_notify, and then shuts down writing to the stream
// below. The peer can go on writing, and this end can go on reading. The
// destructor closes the stream below without close_notify, so that data that is
// incomplete never looks complete to the peer.
//
// # Cancelling
//
// A `Read()` or `Write()` that is destroyed before it is ready has read or
// written nothing. No operation damages the connection when it is destroyed.
//
// # Errors
//
//   DataLoss             the stream below ended without close_notify; bytes
//                        were changed on their way
//   Unauthenticated      the peer refuses this end's certificate, or requires
//                        a missing one (with TLS 1.3, a client learns of the
//                        refusal from the first read)
//   FailedPrecondition   written after `Shutdown()`
//   Aborted              the peer has ended the connection with another alert,
//                        or breaks the protocol
//
// and the errors of the stream below. After an error of a read, all further
// reads return the same error. After an error of a write, all further writes
// return this error, too; if only the stream's writing failed, reads go on.
// Messages name the peer.
//
// # Cost
//
// An idle connection takes some 25 KB at each end, with OpenSSL 3.0, most of
// them the library's state. Buffers of 16 KiB exist only while bytes are on
// their way. A poll of a read, a write or a handshake takes one unit of the
// task's budget, and a write takes a further unit for each 4 KiB; a flush and a
// shutdown take what the stream below takes.
template <class S>
class TlsStream {
 public:
  static_assert(!std::is_reference_v<S>, "a TlsStream owns the stream below");

  TlsStream(TlsStream&&) = default;
  TlsStream& operator=(TlsStream&&) = default;

  // Read and write as `AsyncRead` and `AsyncWrite` require. A vectored write
  // puts short parts into one record.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    return engine_->PollRead(transport(), cx, buffer);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    return engine_->PollWrite(transport(), cx, absl::MakeConstSpan(&data, 1));
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    return engine_->PollWrite(transport(), cx, parts);
  }

  // Sends what writes have left in the `TlsStream`, and flushes the stream
  // below. A task must flush after its last write, unless the task reads next
  // or shuts down: see "Writing".
  PollResult<absl::Status> PollFlush(Context& cx) {
    return engine_->PollFlush(transport(), cx);
  }
  // Sends what writes have left and close_notify, and shuts down writing to the
  // stream below: see "The end of the stream".
  PollResult<absl::Status> PollShutdown(Context& cx) {
    return engine_->PollShutdown(transport(), cx);
  }

  // Returns the stream below, for addresses and options. Reading from that
  // stream or writing to that stream directly breaks the connection.
  S& stream() ABSL_ATTRIBUTE_LIFETIME_BOUND { return stream_; }
  const S& stream() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return stream_; }

  // Has both ends change keys: this end at the next write, and the peer after
  // receiving the write. Further calls before that write change nothing. With
  // AES-GCM, RFC 8446 (section 5.5) asks for a change before 24 million records
  // (390 GB) in one direction; the library does not make this change. ChaCha20
  // needs none. The library answers the peer's changes without a call. Returns
  // FailedPrecondition if the connection uses TLS 1.2 or has ended.
  absl::Status UpdateKeys() { return engine_->UpdateKeys(); }

  // Returns the version on which the two ends have agreed.
  TlsVersion version() const { return internal::TlsVersionOf(ssl()); }

  // Returns the name of the cipher, such as "TLS_AES_256_GCM_SHA384".
  std::string_view cipher() const { return internal::TlsCipherOf(ssl()); }

  // Returns the protocol chosen by ALPN, such as "h2", or "" if either end has
  // asked for no protocol.
  std::string_view alpn() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::TlsAlpnOf(ssl());
  }

  // Returns the host for which the client has asked (SNI), or "".
  std::string_view server_name() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::TlsServerNameOf(ssl());
  }

  // Returns whether the connection resumed the session of an earlier one.
  bool resumed() const { return internal::TlsWasResumed(ssl()); }

  // Return the subject of the peer's certificate, as in "CN=alice,O=Example",
  // the DNS names and IP addresses in the certificate, and the whole
  // certificate in PEM format. Each is empty if the peer has presented no
  // certificate. A server can trust the result if the acceptor requires client
  // certificates.
  std::string peer_subject() const { return internal::TlsPeerSubject(ssl()); }
  std::vector<std::string> peer_names() const {
    return internal::TlsPeerNames(ssl());
  }
  std::string peer_certificate() const {
    return internal::TlsPeerCertificatePem(ssl());
  }

  // Returns the `SSL*` of the library, for questions that have no function
  // here. The caller must not read, write or shut down with the `SSL*`.
  ssl_st* ssl() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return engine_->ssl(); }

 private:
  friend class TlsHandshake<S>;

  TlsStream(S stream, std::unique_ptr<internal::TlsEngine> engine)
      : stream_(std::move(stream)), engine_(std::move(engine)) {}

  internal::TlsTransport transport() { return internal::TlsTransport(stream_); }

  S stream_;
  std::unique_ptr<internal::TlsEngine> engine_;  // null if moved from
};

// TlsHandshake
//
// The future of `TlsConnector::Connect()` and `TlsAcceptor::Accept()`. Returns
// `absl::StatusOr<TlsStream<S>>`. Can be moved at any time, even between polls.
// Polling a finished handshake is a `Panic()`.
//
// A peer that stops in the middle keeps a handshake waiting forever: use
// `Timeout()`.
//
// Cancellation: destroying the handshake destroys the stream below, which
// closes the connection. An error closes the connection at once, too.
//
// Errors:
//
//   Unauthenticated      the peer's certificate is not acceptable: expired,
//                        self-signed, of an unknown authority, for other hosts,
//                        or missing; or the peer refuses this end's
//                        certificate. The message says what to do
//   FailedPrecondition   the peer does not speak TLS, or the two ends have no
//                        version, cipher or protocol (ALPN) in common
//   Unavailable          the peer has closed the connection
//   InvalidArgument      the host is not a name or an IP address
//   Aborted              the peer has ended the handshake with another alert,
//                        or breaks the protocol
//
// and the errors of the stream below.
template <class S>
class [[nodiscard(
    "a handshake does nothing until it is awaited")]] TlsHandshake {
 public:
  TlsHandshake(TlsHandshake&&) = default;
  TlsHandshake& operator=(TlsHandshake&&) = delete;

  PollResult<absl::StatusOr<TlsStream<S>>> Poll(Context& cx) {
    if (engine_ == nullptr) internal::PanicFinished("TlsHandshake");
    PollResult<absl::Status> done =
        engine_->PollHandshake(internal::TlsTransport(stream_), cx);
    if (done.IsPending()) return kPending;
    std::unique_ptr<internal::TlsEngine> engine = std::move(engine_);
    S stream = std::move(stream_);
    if (!done->ok()) return absl::StatusOr<TlsStream<S>>(*std::move(done));
    return absl::StatusOr<TlsStream<S>>(
        TlsStream<S>(std::move(stream), std::move(engine)));
  }

 private:
  friend class TlsConnector;
  friend class TlsAcceptor;

  TlsHandshake(S stream, std::unique_ptr<internal::TlsEngine> engine)
      : stream_(std::move(stream)), engine_(std::move(engine)) {}

  S stream_;
  std::unique_ptr<internal::TlsEngine> engine_;  // null when finished
};

}  // namespace rouse

#endif  // ROUSE_TLS_TLS_STREAM_H_
