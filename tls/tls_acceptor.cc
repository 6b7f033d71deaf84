// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/tls_acceptor.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/tls/engine/tls_context.h"
#include "rouse/tls/engine/tls_settings.h"

namespace rouse {

ssl_ctx_st* TlsAcceptor::ssl_ctx() const { return context_->ssl_ctx(); }

TlsAcceptor::Builder& TlsAcceptor::Builder::RequireClientCertificate() {
  settings().peer_certificate = internal::TlsPeerCertificate::kRequired;
  return *this;
}

TlsAcceptor::Builder& TlsAcceptor::Builder::AllowClientCertificate() {
  settings().peer_certificate = internal::TlsPeerCertificate::kAllowed;
  return *this;
}

absl::StatusOr<TlsAcceptor> TlsAcceptor::Builder::Build() const {
  absl::StatusOr<std::shared_ptr<internal::TlsContext>> context =
      internal::TlsContext::Make(settings());
  if (!context.ok()) return context.status();
  return TlsAcceptor(*std::move(context));
}

}  // namespace rouse
