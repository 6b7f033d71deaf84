// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/engine/tls_engine.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/first_exception.h"
#include "rouse/tls/engine/connection_facts.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_context.h"
#include "rouse/tls/engine/tls_error.h"
#include "rouse/tls/engine/tls_host.h"
#include "rouse/tls/engine/tls_operation.h"
#include "rouse/tls/engine/tls_settings.h"
#include "rouse/tls/engine/tls_transport.h"
#include "rouse/tls/tls_version.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {
namespace {

using Size = absl::StatusOr<size_t>;

// Number of bytes of data in the largest record.
constexpr size_t kRecord = 16384;

// Number of bytes that one `PollWrite()` takes at most.
constexpr size_t kMostInOneWrite = 4 * kRecord;

absl::Status StreamThrew() {
  return absl::AbortedError(
      "the stream below a TLS connection threw an exception during a write");
}

}  // namespace

void TlsEngine::Task::Wait(const Waker& task) {
  if (!waker.WillWake(task)) waker = task.Clone();
  waits = true;
}

void TlsEngine::Task::Wake() {
  if (std::exchange(waits, false)) waker.WakeByRef();
}

// -----------------------------------------------------------------------------
// Making a connection.
// -----------------------------------------------------------------------------

TlsEngine::TlsEngine(std::shared_ptr<TlsContext> context)
    : context_(std::move(context)) {
  ERR_clear_error();
  SslPtr ssl(SSL_new(context_->ssl_ctx()));
  BioPtr bio(BIO_new(BioFunctions()));
  if (ssl == nullptr || bio == nullptr ||
      SSL_set_app_data(ssl.get(), this) == 0) {
    failure_ = absl::ResourceExhaustedError(absl::StrCat(
        "the TLS library cannot make a connection: ", TakeLibraryWords()));
    return;
  }
  BIO_set_data(bio.get(), this);
  BIO_set_init(bio.get(), 1);
  // The one reference serves both directions.
  BIO* const both = bio.release();
  SSL_set_bio(ssl.get(), both, both);
  ssl_ = ssl.release();
}

TlsEngine::~TlsEngine() {
  // OpenSSL resumes no session of a connection that has ended without
  // close_notify, which was a rule of TLS 1.0. Errors still forbid resumption.
  if (is_complete_ && failure_.ok()) {
    SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
  SSL_free(ssl_);
}

std::unique_ptr<TlsEngine> TlsEngine::Client(
    std::shared_ptr<TlsContext> context, std::string_view host) {
  std::unique_ptr<TlsEngine> engine(new TlsEngine(std::move(context)));
  if (!engine->failure_.ok()) return engine;
  SSL* const ssl = engine->ssl_;
  absl::StatusOr<std::string> name = SetTlsHost(ssl, host);
  if (!name.ok()) {
    engine->failure_ = std::move(name).status();
    return engine;
  }
  engine->host_ = *std::move(name);
  const SessionPtr session = engine->context_->sessions().Take(engine->host_);
  if (session != nullptr && SSL_SESSION_is_resumable(session.get())) {
    SSL_set_session(ssl, session.get());
  }
  SSL_set_connect_state(ssl);
  return engine;
}

std::unique_ptr<TlsEngine> TlsEngine::Server(
    std::shared_ptr<TlsContext> context) {
  std::unique_ptr<TlsEngine> engine(new TlsEngine(std::move(context)));
  if (engine->failure_.ok()) SSL_set_accept_state(engine->ssl_);
  return engine;
}

// -----------------------------------------------------------------------------
// Errors.
// -----------------------------------------------------------------------------

std::string TlsEngine::Peer() const {
  if (context_->end() == TlsEnd::kClient) {
    return absl::StrCat("\"", host_, "\"");
  }
  const std::string address =
      operation_ == nullptr ? "" : operation_->transport().PeerAddress();
  return address.empty() ? "the client" : absl::StrCat("the client ", address);
}

absl::Status TlsEngine::Fail(int result) {
  // If the stream threw, the library has not failed.
  operation_->Rethrow();
  if (SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ) {
    return absl::OkStatus();
  }
  if (!certificate_failure_.ok()) {
    failure_ = certificate_failure_;
  } else if (!read_failure_.ok()) {
    FailWithStream(read_failure_);
  } else if (!write_failure_.ok() && operation_->kind() != Kind::kRead) {
    FailWithStream(write_failure_);
  } else {
    failure_ = TakeLibraryError(
        TlsErrorContext{Peer(), context_->end(), !is_complete_, stream_ended_});
  }
  ERR_clear_error();
  return failure_;
}

void TlsEngine::FailWithStream(const absl::Status& error) {
  failure_ = is_complete_
                 ? error
                 : absl::Status(error.code(),
                                absl::StrCat("TLS handshake with ", Peer(),
                                             ": ", error.message()));
}

// -----------------------------------------------------------------------------
// Polls.
// -----------------------------------------------------------------------------

PollResult<absl::Status> TlsEngine::PollSend(const TlsTransport& transport,
                                             Context& cx) {
  if (!write_failure_.ok()) return write_failure_;
  while (sent_ < output_.size()) {
    PollResult<Size> written =
        transport.PollWrite(cx, std::string_view(output_).substr(sent_));
    if (written.IsPending()) return kPending;
    if (!written->ok()) {
      write_failure_ = (*std::move(written)).status();
      output_ = std::string();
      sent_ = 0;
      return write_failure_;
    }
    sent_ += **written;
  }
  // An idle connection keeps no buffer.
  if (sent_ > 0) output_ = std::string();
  sent_ = 0;
  return absl::OkStatus();
}

PollResult<absl::Status> TlsEngine::PollSendAndFlush(
    const TlsTransport& transport, Context& cx) {
  PollResult<absl::Status> sent = PollSend(transport, cx);
  if (sent.IsReady() && sent->ok()) sent = transport.PollFlush(cx);
  return sent;
}

void TlsEngine::SendForReader(const TlsTransport& transport, Context& cx,
                              size_t had_output) {
  if (ABSL_PREDICT_TRUE(output_.empty())) return;
  // If the task of the writer is also the task of this reader, its waker serves
  // both, and the write may have been destroyed.
  if (writer_.waits && !writer_.waker.WillWake(cx.waker())) {
    if (output_.size() > had_output) writer_.Wake();
    return;
  }
  // A writer finds the error, if any, in `write_failure_`. The caller must get
  // the bytes of the read even if the stream throws.
  FirstException dropped;
  bool returned = false;
  dropped.Catch([&] {
    (void)PollSend(transport, cx);
    returned = true;
  });
  if (!returned) write_failure_ = StreamThrew();
}

PollResult<absl::Status> TlsEngine::PollHandshake(const TlsTransport& transport,
                                                  Context& cx) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  PollResult<absl::Status> result = Handshake(transport, cx);
  if (result.IsReady()) unit->MadeProgress();
  return result;
}

PollResult<absl::Status> TlsEngine::Handshake(const TlsTransport& transport,
                                              Context& cx) {
  if (!failure_.ok()) return failure_;
  const UnconstrainedScope unconstrained(cx);
  if (!is_complete_) {
    Operation operation(*this, transport, cx, Kind::kHandshake);
    const int result = SSL_do_handshake(ssl_);
    if (result != 1) {
      absl::Status failure = Fail(result);
      // The library has written what the peer must answer, or an alert.
      const PollResult<absl::Status> sent = PollSendAndFlush(transport, cx);
      if (!failure.ok()) return failure;
      if (sent.IsPending() || sent->ok()) return kPending;
      FailWithStream(*sent);
      return failure_;
    }
    is_complete_ = true;
    ERR_clear_error();
  }
  PollResult<absl::Status> sent = PollSendAndFlush(transport, cx);
  // All that a server of TLS 1.3 sends now are tickets. A client that writes
  // first, and reads later, need not take them before its data is read.
  if (sent.IsPending() && context_->end() == TlsEnd::kServer &&
      TlsVersionOf(ssl_) == TlsVersion::k1_3) {
    return absl::OkStatus();
  }
  return sent;
}

PollResult<Size> TlsEngine::PollRead(const TlsTransport& transport, Context& cx,
                                     absl::Span<char> buffer) {
  if (buffer.empty()) return Size(0);
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  PollResult<Size> result = Read(transport, cx, buffer);
  if (result.IsReady()) unit->MadeProgress();
  return result;
}

PollResult<Size> TlsEngine::Read(const TlsTransport& transport, Context& cx,
                                 absl::Span<char> buffer) {
  reader_.waits = false;
  if (ABSL_PREDICT_FALSE(peer_closed_)) return Size(0);
  if (ABSL_PREDICT_FALSE(!failure_.ok())) return Size(failure_);
  const UnconstrainedScope unconstrained(cx);
  const size_t had_output = output_.size();
  Operation operation(*this, transport, cx, Kind::kRead);
  PollResult<Size> result = ReadRecords(operation, buffer);
  SendForReader(transport, cx, had_output);
  // The writer waits for the rest of a message, which has arrived or never
  // will.
  if (ABSL_PREDICT_FALSE(wants_read_) &&
      (SSL_in_init(ssl_) == 0 || peer_closed_ || !failure_.ok())) {
    wants_read_ = false;
    writer_.Wake();
  }
  if (result.IsPending()) reader_.Wait(cx.waker());
  return result;
}

PollResult<Size> TlsEngine::ReadRecords(Operation& operation,
                                        absl::Span<char> buffer) {
  size_t total = 0;
  while (total < buffer.size()) {
    const size_t room = std::min(buffer.size() - total, size_t{INT_MAX});
    const int result =
        SSL_read(ssl_, buffer.data() + total, static_cast<int>(room));
    if (result <= 0) {
      if (SSL_get_error(ssl_, result) == SSL_ERROR_ZERO_RETURN) {
        peer_closed_ = true;
        return Size(total);
      }
      const absl::Status failure = Fail(result);
      // A failure after some bytes is returned by the next read.
      if (total > 0) return Size(total);
      if (failure.ok()) return kPending;
      return Size(failure);
    }
    total += static_cast<size_t>(result);
    // Further records are taken only if they have arrived already.
    if (SSL_has_pending(ssl_) == 0) break;
    operation.StopReading();
  }
  return Size(total);
}

Size TlsEngine::WriteRecords(Operation& operation,
                             absl::Span<const std::string_view> parts) {
  char gathered[kRecord];
  size_t total = 0;
  size_t offset = 0;  // in the first of `parts`
  while (!parts.empty() && total < kMostInOneWrite && output_.empty()) {
    std::string_view data = parts[0].substr(offset);
    if (data.empty()) {
      parts.remove_prefix(1);
      offset = 0;
      continue;
    }
    // Short parts share a record.
    if (data.size() < kRecord && parts.size() > 1) {
      size_t size = data.copy(gathered, kRecord);
      for (size_t i = 1; i < parts.size() && size < kRecord; ++i) {
        size += parts[i].copy(gathered + size, kRecord - size);
      }
      data = std::string_view(gathered, size);
    }
    data = data.substr(0, kRecord);
    const int result =
        SSL_write(ssl_, data.data(), static_cast<int>(data.size()));
    if (result <= 0) {
      // The library has encrypted the data, and would send that record instead
      // of the next data.
      if (operation.threw()) write_failure_ = StreamThrew();
      operation.Rethrow();
      // A failure of the stream concerns only this direction.
      if (write_failure_.ok()) write_failure_ = Fail(result);
      ERR_clear_error();
      // Without a failure, the library must first receive the rest of a message
      // for itself. It has not taken the data.
      if (total > 0 || write_failure_.ok()) break;
      return write_failure_;
    }
    total += static_cast<size_t>(result);
    size_t taken = static_cast<size_t>(result);
    while (taken > 0) {
      const size_t rest = parts[0].size() - offset;
      if (taken < rest) {
        offset += taken;
        break;
      }
      taken -= rest;
      parts.remove_prefix(1);
      offset = 0;
    }
  }
  return total;
}

PollResult<Size> TlsEngine::PollWrite(
    const TlsTransport& transport, Context& cx,
    absl::Span<const std::string_view> parts) {
  while (!parts.empty() && parts[0].empty()) parts.remove_prefix(1);
  if (parts.empty()) return Size(0);
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  PollResult<Size> result = Write(transport, cx, parts);
  if (result.IsReady()) unit->MadeProgress(result->ok() ? **result : 0);
  return result;
}

PollResult<Size> TlsEngine::Write(const TlsTransport& transport, Context& cx,
                                  absl::Span<const std::string_view> parts) {
  writer_.waits = false;
  wants_read_ = false;
  if (is_closed_) {
    return Size(absl::FailedPreconditionError(
        absl::StrCat("write to ", Peer(), " after Shutdown()")));
  }
  const UnconstrainedScope unconstrained(cx);
  PollResult<absl::Status> sent = PollSend(transport, cx);
  if (sent.IsPending()) {
    writer_.Wait(cx.waker());
    return kPending;
  }
  if (!sent->ok()) return Size(*std::move(sent));
  if (!failure_.ok()) return Size(failure_);
  Operation operation(*this, transport, cx, Kind::kWrite);
  Size result = WriteRecords(operation, parts);
  if (!output_.empty()) reader_.Wake();
  if (ABSL_PREDICT_FALSE(result.ok() && *result == 0)) {
    writer_.Wait(cx.waker());
    return kPending;
  }
  return result;
}

PollResult<absl::Status> TlsEngine::PollFlush(const TlsTransport& transport,
                                              Context& cx) {
  writer_.waits = false;
  PollResult<absl::Status> flushed = PollSendAndFlush(transport, cx);
  if (flushed.IsPending()) writer_.Wait(cx.waker());
  return flushed;
}

bool TlsEngine::WriteCloseNotify(const TlsTransport& transport, Context& cx) {
  Operation operation(*this, transport, cx, Kind::kWrite);
  // Sends what `UpdateKeys()` has left, and receives the rest of a message for
  // the library.
  const int ready = SSL_in_init(ssl_) != 0 ? SSL_do_handshake(ssl_) : 1;
  // 0 means that the peer has not closed its direction yet.
  const bool written = ready == 1 && SSL_shutdown(ssl_) >= 0;
  if (!written) {
    if (operation.threw()) write_failure_ = StreamThrew();
    operation.Rethrow();
    if (ready != 1) {
      const absl::Status failure = Fail(ready);
      ERR_clear_error();
      if (failure.ok()) return false;
    } else if (write_failure_.ok()) {
      write_failure_ = absl::AbortedError(
          absl::StrCat("close_notify for ", Peer(),
                       " cannot be sent: ", TakeLibraryWords()));
    }
  }
  ERR_clear_error();
  is_closed_ = true;
  return true;
}

PollResult<absl::Status> TlsEngine::PollShutdown(const TlsTransport& transport,
                                                 Context& cx) {
  writer_.waits = false;
  wants_read_ = false;
  const bool must_close = !is_closed_ && failure_.ok() && write_failure_.ok();
  const bool must_read = must_close && !WriteCloseNotify(transport, cx);
  PollResult<absl::Status> sent = PollSend(transport, cx);
  if (must_read && (sent.IsPending() || sent->ok())) {
    writer_.Wait(cx.waker());
    return kPending;
  }
  if (sent.IsReady()) {
    // The stream is closed even if close_notify could not be sent.
    PollResult<absl::Status> closed = transport.PollShutdown(cx);
    if (closed.IsPending() || sent->ok()) sent = std::move(closed);
  }
  if (sent.IsPending()) {
    writer_.Wait(cx.waker());
    return kPending;
  }
  if (sent->ok() && !failure_.ok()) return failure_;
  return sent;
}

// -----------------------------------------------------------------------------
// Keys.
// -----------------------------------------------------------------------------

absl::Status TlsEngine::UpdateKeys() {
  ERR_clear_error();
  if (SSL_version(ssl_) < TLS1_3_VERSION) {
    return absl::FailedPreconditionError(
        "UpdateKeys: the connection uses TLS 1.2, which has no key update; "
        "make a new connection instead");
  }
  if (HasKeyUpdate(ssl_) ||
      SSL_key_update(ssl_, SSL_KEY_UPDATE_REQUESTED) == 1) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("UpdateKeys: the connection with ", Peer(),
                   " has ended: ", TakeLibraryWords()));
}

}  // namespace rouse::internal
