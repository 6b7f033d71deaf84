// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: transport.h
// -----------------------------------------------------------------------------
//
// `Transport` moves bytes between a connection and nghttp2's session.

#ifndef ROUSE_HTTP_H2_SHARED_TRANSPORT_H_
#define ROUSE_HTTP_H2_SHARED_TRANSPORT_H_

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/session_clock.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"

namespace rouse::http::internal {

// Transport
//
// Owns a connection and nghttp2's session, and keeps the first reason for which
// the connection ends. A `ServerSession` or a `ClientSession` decides what the
// frames mean. Not thread-safe. Not movable.
class Transport {
 public:
  // What a session does when nghttp2 has received or sent a part of a frame.
  // nghttp2 calls back from within `PollReads()`, `Receive()` and
  // `PollWrites()`. An exception ends the connection.
  class Events {
   public:
    virtual void OnBeginHeaders(const nghttp2_frame& frame) = 0;
    virtual void OnField(const nghttp2_frame& frame, std::string_view name,
                         std::string_view value) = 0;
    virtual void OnFrame(const nghttp2_frame& frame) = 0;
    virtual void OnData(int32_t id, std::string_view bytes) = 0;
    virtual void OnStreamClose(int32_t id, uint32_t error) = 0;
    virtual void OnSent(const nghttp2_frame& frame) = 0;
    virtual void OnHeadersNotSent(const nghttp2_frame& frame, int error) = 0;
    // Copies bytes of a body that is sent, and returns their number, or an
    // error of nghttp2.
    virtual ssize_t ReadBody(int32_t id, SharedStream& shared, char* to,
                             size_t most, uint32_t& flags) = 0;

   protected:
    ~Events() = default;
  };

  // The settings of this end, and its patience.
  struct Limits {
    uint32_t connection_window;
    uint32_t stream_window;
    size_t max_header_bytes;
    absl::Duration progress_timeout;
  };

  // What `PollReads()` has met: nothing more to read now; possibly more bytes;
  // the end of the peer's side; a failure, which `status()` has.
  enum class Read { kWaits, kHasMore, kEnd, kFailed };

  // `peer` is "client" or "server". `events` and `clock` must outlive the
  // object.
  Transport(std::unique_ptr<Io> io, std::string_view peer, const Limits& limits,
            Events& events, SessionClock& clock);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport() { nghttp2_session_del(session_); }

  // Makes nghttp2's session with `make`, and submits the settings: `own` and
  // those that a server and a client have in common. Returns false after a
  // failure, which `status()` has.
  bool Open(decltype(&nghttp2_session_server_new2) make,
            nghttp2_settings_entry own);

  // Null before `Open()`.
  nghttp2_session* session() const { return session_; }
  Io& io() ABSL_ATTRIBUTE_LIFETIME_BOUND { return *io_; }
  FrameBudget& budget() ABSL_ATTRIBUTE_LIFETIME_BOUND { return *budget_; }

  // ---- The end.

  // Returns why the connection ends, or OK.
  const absl::Status& status() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return status_;
  }
  // Notes why the connection ends. The first reason counts.
  void EndWith(absl::Status reason);
  // Ends the connection with a GOAWAY of an error code of HTTP/2.
  void Terminate(uint32_t error, absl::Status reason);

  // ---- Bytes.

  // Reads as long as bytes are there, but not for ever.
  Read PollReads(Context& cx);
  // Passes bytes of the peer to nghttp2. Returns false after a failure, which
  // `status()` has.
  bool Receive(std::string_view bytes);
  // Writes what nghttp2 has to send, as long as the connection takes it.
  // Returns false after a failure, which `status()` has.
  bool PollWrites(Context& cx);
  // Frees the memory of a connection without streams.
  void Shrink();

  // Returns whether the last `PollReads()` has read nothing because too much
  // waited to be sent, and bytes can be read now. Nothing would wake the task.
  bool MustReadNow() const { return skips_reads_ && !MustNotRead(); }
  // Returns whether bytes, or a flush, wait for the connection.
  bool HasUnsent() const { return !out_.empty() || must_flush_; }
  // Returns whether nghttp2 has nothing more to send, nor the connection.
  bool HasSentAll() const {
    return nghttp2_session_want_write(session_) == 0 && !HasUnsent();
  }

  // Returns what nghttp2 takes for a body that `Events::ReadBody()` copies.
  static nghttp2_data_provider BodyOf(SharedStream& stream);

  // ---- The window of the connection.

  // Notes that a body has received bytes, which no user has read yet.
  void Keep(size_t bytes) { unread_ += bytes; }
  // Gives bytes that were read or discarded back to the window of stream `id`
  // and to that of the connection.
  void Consume(int32_t id, size_t bytes);
  // Opens the window of the connection if it is worth a frame, and returns
  // whether it was. nghttp2 waits until half of the window was read, which
  // never happens if the other half stays unread.
  bool OpenWindow();

  // ---- Frames of the peer that only cause work.

  // Takes a token from `budget()`.
  void OnUselessFrame();
  // Ends the connection of a peer whose header is many times too large. `bytes`
  // is the size of the header so far.
  void OnHeaderBytes(size_t bytes);
  // Ends the connection of a peer that has sent too many frames of no use.
  // Returns whether something must be written for that.
  bool EndFlood();

  // ---- Time.

  // The end of the time in which the connection takes nothing, if it does.
  Instant write_end() const { return write_end_; }
  bool is_blocked() const { return write_end_ != Instant::Max(); }
  // When the connection last took bytes after having taken none.
  Instant unblocked() const { return unblocked_; }
  // When bytes were last read.
  Instant received() const { return received_; }

 private:
  struct Callbacks;

  // Returns nghttp2's table of callbacks, or null if memory is exhausted.
  static const nghttp2_session_callbacks* GetCallbacks();
  void OnDataFrame(const nghttp2_frame& frame);
  // Notes the reason with which nghttp2 ends the connection, if any.
  void OnGoawaySent(const nghttp2_frame& frame);
  // Returns whether too much waits to be sent.
  bool MustNotRead() const;
  // Start and stop the time in which the connection takes nothing.
  void BeginBlocked(const Context& cx);
  void EndBlocked();
  // Notes the failure of a function of nghttp2. Returns false.
  bool Fail(std::string_view what, ssize_t code);

  const std::unique_ptr<Io> io_;
  const std::string_view peer_;
  const Limits limits_;
  Events& events_;
  SessionClock& clock_;

  nghttp2_session* session_ = nullptr;
  Buffer out_;
  bool must_flush_ = false;
  bool is_flooded_ = false;
  bool skips_reads_ = false;  // `PollReads()` has read nothing, and not waited
  absl::Status status_;
  absl::Status callback_error_;
  std::optional<FrameBudget> budget_;
  // Bytes of the connection's window that were given to bodies and were not
  // consumed.
  size_t unread_ = 0;

  Instant write_end_ = Instant::Max();
  Instant unblocked_;
  Instant received_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_TRANSPORT_H_
