// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_connector.h
// -----------------------------------------------------------------------------
//
// A `TlsConnector` makes the client's end of TLS connections:
//
//   absl::StatusOr<rouse::TlsConnector> connector =
//       rouse::TlsConnector::Builder()
//           .AddRootsFile("company_ca.pem")
//           .Alpn({"http/1.1"})
//           .Build();
//   ...
//   rouse::TcpStream tcp =
//       co_await rouse::OrReturn(rouse::ConnectTcp("intranet:443"));
//   rouse::TlsStream<rouse::TcpStream> tls = co_await rouse::OrReturn(
//       connector->Connect("intranet", std::move(tcp)));
//
// `ConnectTls()` (rouse/tls/connect_tls.h) combines both steps.

#ifndef ROUSE_TLS_TLS_CONNECTOR_H_
#define ROUSE_TLS_TLS_CONNECTOR_H_

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/tls/engine/tls_engine.h"
#include "rouse/tls/engine/tls_settings.h"
#include "rouse/tls/tls_stream.h"

struct ssl_ctx_st;

namespace rouse {

// TlsConnector
//
// Holds the settings of a client, and the sessions that can be resumed. A copy
// shares both. Thread-safe. Make one connector for many connections: making one
// reads all trusted certificates, and only connections of the same connector
// resume each other's sessions.
//
// The server's certificate is checked, unless the builder says otherwise: it
// must be valid now, must name the host, and must be signed by an authority
// that the system trusts or that the builder has added.
class TlsConnector {
 public:
  class Builder;

  // Performs the handshake over `stream`, a connection to the server. Returns a
  // future of `absl::StatusOr<TlsStream<S>>`: see `TlsHandshake`.
  //
  // `host`, which is copied, is the name or the IP address that the
  // certificate of the server must contain. An IPv6 address can be in brackets.
  // A name is also sent to the server (SNI).
  template <class S>
  TlsHandshake<S> Connect(std::string_view host, S stream) const {
    return TlsHandshake<S>(std::move(stream),
                           internal::TlsEngine::Client(context_, host));
  }

  // Returns the `SSL_CTX*` of the library, for settings that the builder does
  // not have. REQUIRES: settings are made before the first connection.
  ssl_ctx_st* ssl_ctx() const;

 private:
  explicit TlsConnector(std::shared_ptr<internal::TlsContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<internal::TlsContext> context_;
};

// TlsConnector::Builder
//
// Collects settings. The settings that a server also has, such as
// `AddRootsFile()`, `Certificate()` and `Alpn()`, are in
// tls/engine/tls_settings.h. A value.
class TlsConnector::Builder : public internal::TlsBuilder<Builder> {
 public:
  Builder() : TlsBuilder(internal::TlsEnd::kClient) {}

  // Chooses whether the authorities that the system trusts are trusted. The
  // initial value is true.
  Builder& SystemRoots(bool trusted);

  // Accepts any server, so that anybody who can intercept the connection can
  // read and change its data. For tests only.
  Builder& DangerouslyAcceptAnyCertificate();

  // Makes the connector. Reads files, and blocks meanwhile. Errors:
  //
  //   InvalidArgument      a text is not in PEM format, a key does not belong
  //                        to its certificate, or settings contradict each
  //                        other
  //   FailedPrecondition   the system has no certificates of authorities that
  //                        it trusts, and the builder has added none
  //
  // and the errors of reading a file, such as NotFound.
  absl::StatusOr<TlsConnector> Build() const;
};

}  // namespace rouse

#endif  // ROUSE_TLS_TLS_CONNECTOR_H_
