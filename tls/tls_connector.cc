// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/tls_connector.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/tls/engine/tls_context.h"
#include "rouse/tls/engine/tls_settings.h"

namespace rouse {

ssl_ctx_st* TlsConnector::ssl_ctx() const { return context_->ssl_ctx(); }

TlsConnector::Builder& TlsConnector::Builder::SystemRoots(bool trusted) {
  settings().system_roots = trusted;
  return *this;
}

TlsConnector::Builder&
TlsConnector::Builder::DangerouslyAcceptAnyCertificate() {
  settings().peer_certificate = internal::TlsPeerCertificate::kIgnored;
  return *this;
}

absl::StatusOr<TlsConnector> TlsConnector::Builder::Build() const {
  absl::StatusOr<std::shared_ptr<internal::TlsContext>> context =
      internal::TlsContext::Make(settings());
  if (!context.ok()) return context.status();
  return TlsConnector(*std::move(context));
}

}  // namespace rouse
