// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_acceptor.h
// -----------------------------------------------------------------------------
//
// A `TlsAcceptor` makes the server's end of TLS connections:
//
//   absl::StatusOr<rouse::TlsAcceptor> acceptor =
//       rouse::TlsAcceptor::Builder()
//           .CertificateFile("chain.pem", "key.pem")
//           .Build();
//   ...
//   rouse::TlsStream<rouse::TcpStream> tls =
//       co_await rouse::OrReturn(rouse::Timeout(
//           absl::Seconds(10), acceptor->Accept(std::move(tcp))));
//
// Perform the handshake in the task of the connection, not in the loop that
// accepts connections: a client that stops would keep other clients waiting.

#ifndef ROUSE_TLS_TLS_ACCEPTOR_H_
#define ROUSE_TLS_TLS_ACCEPTOR_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/tls/engine/tls_engine.h"
#include "rouse/tls/engine/tls_settings.h"
#include "rouse/tls/tls_stream.h"

struct ssl_ctx_st;

namespace rouse {

// TlsAcceptor
//
// Holds the settings of a server, and the keys of the tickets for the
// resumption of sessions. A copy shares both. Thread-safe. To renew a
// certificate, build a new acceptor for new connections.
class TlsAcceptor {
 public:
  class Builder;

  // Performs the handshake over `stream`, a connection from a client. Returns a
  // future of `absl::StatusOr<TlsStream<S>>`: see `TlsHandshake`.
  template <class S>
  TlsHandshake<S> Accept(S stream) const {
    return TlsHandshake<S>(std::move(stream),
                           internal::TlsEngine::Server(context_));
  }

  // Returns the `SSL_CTX*` of the library, for settings that the builder does
  // not have. REQUIRES: settings are made before the first connection.
  ssl_ctx_st* ssl_ctx() const;

 private:
  explicit TlsAcceptor(std::shared_ptr<internal::TlsContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<internal::TlsContext> context_;
};

// TlsAcceptor::Builder
//
// Collects settings. The settings that a client also has, such as
// `Certificate()`, `AddRootsFile()` and `Alpn()`, are in
// tls/engine/tls_settings.h. A value.
//
// `Certificate()` and `CertificateFile()` can be called several times. The
// server presents the first certificate that contains the name for which the
// client asks (SNI), and otherwise presents the first certificate.
//
// If `Alpn()` is called, a client that offers only other protocols is refused.
// A client that offers none at all is accepted.
class TlsAcceptor::Builder : public internal::TlsBuilder<Builder> {
 public:
  Builder() : TlsBuilder(internal::TlsEnd::kServer) {}

  // Requires that each client presents a certificate, signed by an authority
  // that was added with `AddRoots()` or `AddRootsFile()`. The authorities of
  // the system are not trusted for clients.
  Builder& RequireClientCertificate();

  // Like `RequireClientCertificate()`, but also accepts a client without any
  // certificate.
  Builder& AllowClientCertificate();

  // Makes the acceptor. Reads files, and blocks meanwhile. Errors:
  //
  //   InvalidArgument   no certificate is set; a text is not in PEM format, a
  //                     key does not belong to its certificate, or settings
  //                     contradict each other
  //
  // and the errors of reading a file, such as NotFound.
  absl::StatusOr<TlsAcceptor> Build() const;
};

}  // namespace rouse

#endif  // ROUSE_TLS_TLS_ACCEPTOR_H_
