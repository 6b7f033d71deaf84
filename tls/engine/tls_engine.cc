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

// Number of bytes that the library receives in one poll at most, while nothing
// but messages for the library itself arrive.
constexpr size_t kMostWithoutResult = 64 << 10;

// Number of bytes of answers that wait for a peer that does not read.
constexpr size_t kMostAnswers = 64 << 10;

absl::Status StreamThrew() {
  return absl::AbortedError(
      "the stream below a TLS connection threw an exception during a write");
}

// Number of bytes that one `PollWrite()` takes at most.
constexpr size_t kMostInOneWrite = 4 * kRecord;

}  // namespace

// Operation
//
// A call of the library in progress: tells the BIO what to poll with.
// Exceptions of the stream wait here until the library has returned.
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

  // Counts bytes that the library has received. Returns whether the library has
  // received so many without a result that other tasks should run first.
  bool HasReceivedMuch() const { return received_ >= kMostWithoutResult; }
  void AddReceived(size_t size) { received_ += size; }

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
  bool threw() const { return threw_; }
  void Rethrow() { exception_.Rethrow(); }

 private:
  TlsEngine& engine_;
  const TlsTransport& transport_;
  Context& cx_;
  const Kind kind_;
  bool can_read_ = true;
  bool threw_ = false;
  size_t received_ = 0;
  FirstException exception_;
};

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
// Callbacks of the library.
// -----------------------------------------------------------------------------

const BIO_METHOD* TlsEngine::BioFunctions() {
  static const BIO_METHOD* const functions = [] {
    BIO_METHOD* const made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rouse");
    if (made == nullptr) return made;
    BIO_meth_set_read(made, &BioRead);
    BIO_meth_set_write(made, &BioWrite);
    BIO_meth_set_ctrl(made, &BioControl);
    return made;
  }();
  return functions;
}

int TlsEngine::BioRead(BIO* bio, char* buffer, int size) {
  BIO_clear_retry_flags(bio);
  auto& engine = *static_cast<TlsEngine*>(BIO_get_data(bio));
  if (engine.operation_ == nullptr) return -1;
  return engine.operation_->Call([&] {
    return engine.Receive(bio,
                          absl::MakeSpan(buffer, static_cast<size_t>(size)));
  });
}

int TlsEngine::BioWrite(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto& engine = *static_cast<TlsEngine*>(BIO_get_data(bio));
  if (engine.operation_ == nullptr) return -1;
  return engine.operation_->Call([&] {
    return engine.Send(std::string_view(data, static_cast<size_t>(size)));
  });
}

long TlsEngine::BioControl(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return static_cast<TlsEngine*>(BIO_get_data(bio))->stream_ended_ ? 1 : 0;
    default:
      return 0;
  }
}

int TlsEngine::Receive(BIO* bio, absl::Span<char> buffer) {
  Operation& operation = *operation_;
  if (!operation.can_read()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  if (operation.HasReceivedMuch()) {
    operation.cx().Yield();
    BIO_set_retry_read(bio);
    return -1;
  }
  if (operation.kind() == Kind::kRead &&
      output_.size() - sent_ > kMostAnswers) {
    read_failure_ = absl::AbortedError(absl::StrCat(
        Peer(), " demands answers, but does not read the answers"));
    return -1;
  }
  if (operation.kind() == Kind::kWrite) ReadForWriter(operation.cx());
  PollResult<Size> read =
      operation.transport().PollRead(operation.cx(), buffer);
  if (read.IsPending()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  if (!read->ok()) {
    read_failure_ = (*std::move(read)).status();
    return -1;
  }
  if (**read == 0) stream_ended_ = true;
  operation.AddReceived(**read);
  // The library may now have bytes for a reader, who finds them there.
  if (operation.kind() == Kind::kWrite) reader_.Wake();
  return static_cast<int>(**read);
}

void TlsEngine::ReadForWriter(Context& cx) {
  wants_read_ = true;
  // A waiting reader of another task would lose its wake to this poll.
  if (!reader_.waker.WillWake(cx.waker())) reader_.Wake();
}

int TlsEngine::Send(std::string_view data) {
  Operation& operation = *operation_;
  const int size = static_cast<int>(data.size());
  if (operation.kind() == Kind::kRead) {
    // After an error or close_notify, nothing more can be sent, but bytes can
    // still be received.
    if (write_failure_.ok() && !is_closed_) output_.append(data);
    return size;
  }
  if (output_.empty()) {
    PollResult<Size> written =
        operation.transport().PollWrite(operation.cx(), data);
    if (written.IsReady()) {
      if (!written->ok()) {
        write_failure_ = (*std::move(written)).status();
        return -1;
      }
      data.remove_prefix(**written);
    }
  }
  output_.append(data);
  return size;
}

int TlsEngine::OnCertificate(int ok, X509_STORE_CTX* store) {
  if (ok == 1) return 1;
  const SSL* const ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& engine = *static_cast<TlsEngine*>(SSL_get_app_data(ssl));
  if (engine.operation_ == nullptr) return 0;
  engine.operation_->Call([&] {
    engine.certificate_failure_ =
        CertificateError(store, engine.Peer(), engine.context_->end());
    return 0;
  });
  return 0;
}

int TlsEngine::OnSession(SSL* ssl, SSL_SESSION* session) {
  auto& engine = *static_cast<TlsEngine*>(SSL_get_app_data(ssl));
  // A session that cannot be kept costs a later connection some time.
  FirstException dropped;
  dropped.Catch([&] {
    SSL_SESSION_up_ref(session);
    engine.context_->sessions().Put(engine.host_, SessionPtr(session));
  });
  return 0;
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

PollResult<absl::Status> TlsEngine::PollShutdown(const TlsTransport& transport,
                                                 Context& cx) {
  writer_.waits = false;
  if (!is_closed_ && failure_.ok() && write_failure_.ok()) {
    Operation operation(*this, transport, cx, Kind::kWrite);
    // Sends what `UpdateKeys()` has left.
    if (SSL_in_init(ssl_) != 0) (void)SSL_do_handshake(ssl_);
    // 0 means that the peer has not closed its direction yet.
    if (SSL_shutdown(ssl_) < 0) {
      if (operation.threw()) write_failure_ = StreamThrew();
      operation.Rethrow();
      if (write_failure_.ok()) {
        write_failure_ = absl::AbortedError(
            absl::StrCat("close_notify for ", Peer(),
                         " cannot be sent: ", TakeLibraryWords()));
      }
    }
    ERR_clear_error();
    is_closed_ = true;
  }
  PollResult<absl::Status> sent = PollSend(transport, cx);
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
  if (SSL_key_update(ssl_, SSL_KEY_UPDATE_REQUESTED) == 1) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("UpdateKeys: the connection with ", Peer(),
                   " has ended: ", TakeLibraryWords()));
}

}  // namespace rouse::internal
