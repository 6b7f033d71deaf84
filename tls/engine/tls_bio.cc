// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of a `TlsEngine` that the TLS library calls.

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/first_exception.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_context.h"
#include "rouse/tls/engine/tls_engine.h"
#include "rouse/tls/engine/tls_error.h"
#include "rouse/tls/engine/tls_operation.h"
#include "rouse/tls/engine/tls_transport.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {
namespace {

using Size = absl::StatusOr<size_t>;

// Number of bytes of answers (to key updates, for example) that wait at most
// for a peer that does not read.
constexpr size_t kMostAnswers = 64 << 10;

}  // namespace

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
  // The library may now have data that a waiting reader must take.
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
  // Goes on until the stream is full, so that a write leaves nothing behind if
  // the stream has room.
  while (output_.empty() && !data.empty()) {
    PollResult<Size> written =
        operation.transport().PollWrite(operation.cx(), data);
    if (written.IsPending()) break;
    if (!written->ok()) {
      write_failure_ = (*std::move(written)).status();
      return -1;
    }
    data.remove_prefix(**written);
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

}  // namespace rouse::internal
