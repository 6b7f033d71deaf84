// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_error.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: makes a single message from the errors of the TLS library.
// The message names the peer, the cause and the remedy.

#ifndef ROUSE_TLS_ENGINE_TLS_ERROR_H_
#define ROUSE_TLS_ENGINE_TLS_ERROR_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rouse/tls/engine/library.h"  // IWYU pragma: keep
#include "rouse/tls/engine/tls_settings.h"

namespace rouse::internal {

// Returns the error for the certificate that `store` has just refused. `peer`
// names the end that presented the certificate, as in `"example.com"` or
// `the client 192.0.2.1:4711`, and `own` is the other end.
absl::Status CertificateError(X509_STORE_CTX* store, std::string_view peer,
                              TlsEnd own);

// Further arguments of `TakeLibraryError()`.
struct TlsErrorContext {
  std::string_view peer;
  TlsEnd own;
  bool in_handshake;
  bool stream_ended;  // the stream below has ended
};

// Converts the errors in the library's queue of the calling thread to a status,
// and empties the queue.
absl::Status TakeLibraryError(const TlsErrorContext& context);

// Returns the library's own words for the errors in the queue of the calling
// thread, and empties the queue.
std::string TakeLibraryWords();

// Returns the DNS names and IP addresses of `certificate`, but not the common
// name, for which many authorities have no rules.
std::vector<std::string> CertificateNames(X509* certificate);

// Returns the subject of `certificate`, such as "CN=example.com,O=Example".
std::string CertificateSubject(X509* certificate);

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_ERROR_H_
