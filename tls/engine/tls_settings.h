// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_settings.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: what the builders of `TlsConnector` and `TlsAcceptor`
// collect.

#ifndef ROUSE_TLS_ENGINE_TLS_SETTINGS_H_
#define ROUSE_TLS_ENGINE_TLS_SETTINGS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "rouse/tls/tls_version.h"

namespace rouse::internal {

// The two ends of a connection.
enum class TlsEnd { kClient, kServer };

// A text in PEM format, or the path of a file with such a text.
struct TlsPem {
  TlsPem(std::string text, bool is_file)
      : text(std::move(text)), is_file(is_file) {}

  std::string text;
  bool is_file;
};

// A certificate with its chain, and its private key.
struct TlsIdentityPem {
  TlsIdentityPem(TlsPem chain, TlsPem key)
      : chain(std::move(chain)), key(std::move(key)) {}

  TlsPem chain;
  TlsPem key;
};

enum class TlsPeerCertificate { kIgnored, kAllowed, kRequired };

struct TlsSettings {
  explicit TlsSettings(TlsEnd end)
      : end(end),
        system_roots(end == TlsEnd::kClient),
        peer_certificate(end == TlsEnd::kClient
                             ? TlsPeerCertificate::kRequired
                             : TlsPeerCertificate::kIgnored) {}

  TlsEnd end;
  bool system_roots;
  TlsPeerCertificate peer_certificate;
  std::vector<TlsPem> roots;
  std::vector<TlsIdentityPem> identities;
  std::vector<std::string> alpn;
  TlsVersion min_version = TlsVersion::k1_2;
  TlsVersion max_version = TlsVersion::k1_3;
  bool resumption = true;
};

// TlsBuilder
//
// The settings that connectors and acceptors share. `Self` is the derived
// builder. `Build()` reads the files.
template <class Self>
class TlsBuilder {
 public:
  // Presents a certificate. `chain` contains, in PEM format, the certificate
  // and then the certificates of the authorities up to the root. `key` contains
  // the private key. An encrypted key is an error of `Build()`.
  Self& Certificate(std::string chain, std::string key) {
    settings_.identities.emplace_back(TlsPem(std::move(chain), false),
                                      TlsPem(std::move(key), false));
    return self();
  }

  // Like `Certificate()`, with the paths of two files, or twice the path of a
  // single file with both texts.
  Self& CertificateFile(std::string chain_path, std::string key_path) {
    settings_.identities.emplace_back(TlsPem(std::move(chain_path), true),
                                      TlsPem(std::move(key_path), true));
    return self();
  }

  // Trusts the authorities whose certificates `pem` contains. A self-signed
  // certificate of a peer is trusted if `pem` contains the certificate.
  Self& AddRoots(std::string pem) {
    settings_.roots.emplace_back(std::move(pem), false);
    return self();
  }

  // Like `AddRoots()`, with the path of a file.
  Self& AddRootsFile(std::string path) {
    settings_.roots.emplace_back(std::move(path), true);
    return self();
  }

  // Negotiates a protocol (ALPN, RFC 7301) out of `protocols`, the best first,
  // such as "h2" and "http/1.1". Without a call, no protocol is negotiated.
  Self& Alpn(std::initializer_list<std::string_view> protocols) {
    return Alpn(absl::MakeConstSpan(protocols.begin(), protocols.size()));
  }
  Self& Alpn(absl::Span<const std::string_view> protocols) {
    settings_.alpn.assign(protocols.begin(), protocols.end());
    return self();
  }

  // Refuse peers that support only older or only newer versions. Initially, TLS
  // 1.2 and TLS 1.3 are allowed.
  Self& MinVersion(TlsVersion version) {
    settings_.min_version = version;
    return self();
  }
  Self& MaxVersion(TlsVersion version) {
    settings_.max_version = version;
    return self();
  }

  // Chooses whether a later connection can resume the session of an earlier
  // connection, with a shorter handshake. The initial value is true.
  Self& Resumption(bool enabled) {
    settings_.resumption = enabled;
    return self();
  }

 protected:
  explicit TlsBuilder(TlsEnd end) : settings_(end) {}

  const TlsSettings& settings() const { return settings_; }
  TlsSettings& settings() { return settings_; }

 private:
  Self& self() { return static_cast<Self&>(*this); }

  TlsSettings settings_;
};

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_SETTINGS_H_
