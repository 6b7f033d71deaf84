// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_engine.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: a TLS connection without the type of the stream below.
//
// # How bytes move
//
// The library reads and writes through a BIO (tls_bio.cc). The BIO calls the
// stream's `PollRead()` and `PollWrite()` with the context of the poll in
// progress. Records thus go into the library's buffer, and come out of the
// library's buffer, without a further copy.
//
// A write of the library never waits for room in the stream. If the stream is
// full before the end of a record, the rest stays in `output_`. Three things
// follow:
//
// *   `PollWrite()` either takes data or is pending and has taken nothing, as
//     `AsyncWrite` requires. A library that waits in the middle of a record
//     would have encrypted the data already, and would send it later even if
//     the write was destroyed.
// *   A reader never waits for a writer. A reader that has to write (an alert)
//     adds to `output_`.
// *   The handshake waits only for reads, and for `output_` at the end.
//
// # Who sends `output_`
//
// The stream keeps one waker for each direction, so a reader that polls the
// stream's writing side replaces the waker of a waiting writer. Therefore:
//
// *   A writer sends `output_` before taking more data, and in `PollFlush()`
//     and `PollShutdown()`. While the writer waits, `writer_.waits` is true,
//     and only the writer polls the stream's writing side.
// *   Otherwise a reader that is about to wait sends `output_`. A program that
//     writes a request and reads the answer therefore need not flush.
// *   A writer that leaves bytes in `output_` without waiting wakes a waiting
//     reader, so that the reader sends the bytes. A reader that adds bytes
//     while a writer waits wakes the writer.
//
// # A writer that has to read
//
// While the library has a part of a message for itself (a ticket, a key
// update), the library writes neither data nor close_notify. The writer then
// reads the rest. The writer's poll of the stream replaces the waker of a
// reader that waits in another task, so the writer wakes the reader before. If
// the reader still exists, the reader polls the stream again, and wakes the
// writer (`wants_read_`) when the message is complete. If the reader was
// destroyed, the stream wakes the writer. Thus no task waits for a task that no
// longer exists.

#ifndef ROUSE_TLS_ENGINE_TLS_ENGINE_H_
#define ROUSE_TLS_ENGINE_TLS_ENGINE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/tls/engine/tls_transport.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

struct bio_method_st;
struct bio_st;
struct ssl_session_st;
struct ssl_st;
struct x509_store_ctx_st;

namespace rouse::internal {

class TlsContext;

// TlsEngine
//
// Not thread-safe. The address of a `TlsEngine` must not change. Each function
// that takes a `TlsTransport` must be called with the same stream. The stream
// may move between the calls.
class TlsEngine {
 public:
  // Make the two ends of a connection. `host` is the host that the server's
  // certificate must name. If the engine cannot be made, the handshake returns
  // the error.
  static std::unique_ptr<TlsEngine> Client(std::shared_ptr<TlsContext> context,
                                           std::string_view host);
  static std::unique_ptr<TlsEngine> Server(std::shared_ptr<TlsContext> context);

  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;
  ~TlsEngine();

  // Is ready when the handshake is complete, and the peer has all that the peer
  // needs for completing the handshake.
  PollResult<absl::Status> PollHandshake(const TlsTransport& transport,
                                         Context& cx);

  // The functions of `AsyncRead` and `AsyncWrite`. REQUIRES: the handshake was
  // successful.
  PollResult<absl::StatusOr<size_t>> PollRead(const TlsTransport& transport,
                                              Context& cx,
                                              absl::Span<char> buffer);
  PollResult<absl::StatusOr<size_t>> PollWrite(
      const TlsTransport& transport, Context& cx,
      absl::Span<const std::string_view> parts);
  PollResult<absl::Status> PollFlush(const TlsTransport& transport,
                                     Context& cx);
  PollResult<absl::Status> PollShutdown(const TlsTransport& transport,
                                        Context& cx);

  // Are described at `TlsStream`. "connection_facts.h" has functions of
  // `ssl()`.
  absl::Status UpdateKeys();
  ssl_st* ssl() const { return ssl_; }

 private:
  friend class TlsContext;  // registers the callbacks
  class Operation;
  enum class Kind { kHandshake, kRead, kWrite };

  // A task that polls one direction. Keeps the waker between waits, so that a
  // task that waits again clones nothing.
  struct Task {
    void Wait(const Waker& task);
    void Wake();

    Waker waker;
    bool waits = false;
  };

  explicit TlsEngine(std::shared_ptr<TlsContext> context);

  // Creates the BIO's functions, once in a program.
  static const bio_method_st* BioFunctions();
  static int BioRead(bio_st* bio, char* buffer, int size);
  static int BioWrite(bio_st* bio, const char* data, int size);
  static long BioControl(bio_st* bio, int command, long number, void* pointer);
  static int OnCertificate(int ok, x509_store_ctx_st* store);
  static int OnSession(ssl_st* ssl, ssl_session_st* session);

  // Read from and write to the stream for the library. Return the number of
  // bytes, 0 at the end of the stream, or -1.
  int Receive(bio_st* bio, absl::Span<char> buffer);
  int Send(std::string_view data);
  // Has a writer read: see above.
  void ReadForWriter(Context& cx);

  // Sends `output_`.
  PollResult<absl::Status> PollSend(const TlsTransport& transport, Context& cx);
  // Sends `output_`, and then flushes the stream.
  PollResult<absl::Status> PollSendAndFlush(const TlsTransport& transport,
                                            Context& cx);
  // Sends what a reader must send: see above. `had_output` is the size of
  // `output_` before the read.
  void SendForReader(const TlsTransport& transport, Context& cx,
                     size_t had_output);

  // Returns the error of a call of the library that returned `result`, and
  // keeps it in `failure_`. Returns OK if the call only has to wait.
  absl::Status Fail(int result);
  // Keeps an error of the stream in `failure_`.
  void FailWithStream(const absl::Status& error);

  // Returns a name of the peer for messages.
  std::string Peer() const;

  // Do the work of the polls, without taking units of the budget.
  PollResult<absl::Status> Handshake(const TlsTransport& transport,
                                     Context& cx);
  PollResult<absl::StatusOr<size_t>> Read(const TlsTransport& transport,
                                          Context& cx, absl::Span<char> buffer);
  PollResult<absl::StatusOr<size_t>> ReadRecords(Operation& operation,
                                                 absl::Span<char> buffer);
  PollResult<absl::StatusOr<size_t>> Write(
      const TlsTransport& transport, Context& cx,
      absl::Span<const std::string_view> parts);
  absl::StatusOr<size_t> WriteRecords(Operation& operation,
                                      absl::Span<const std::string_view> parts);
  // Returns false, and has written nothing, if the library must first receive
  // the rest of a message for itself.
  bool WriteCloseNotify(const TlsTransport& transport, Context& cx);

  const std::shared_ptr<TlsContext> context_;
  ssl_st* ssl_ = nullptr;
  std::string host_;  // of a client
  Operation* operation_ = nullptr;

  // Bytes that the library has written, from `sent_` on.
  std::string output_;
  size_t sent_ = 0;

  Task reader_;
  Task writer_;

  absl::Status failure_;        // of the connection
  absl::Status write_failure_;  // of writing to the stream
  absl::Status read_failure_;   // of reading from the stream
  absl::Status certificate_failure_;
  bool is_complete_ = false;  // the handshake
  bool stream_ended_ = false;
  bool peer_closed_ = false;
  bool is_closed_ = false;   // close_notify was written
  bool wants_read_ = false;  // the writer has had to read
};

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_ENGINE_H_
