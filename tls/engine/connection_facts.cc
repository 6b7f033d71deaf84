// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/engine/connection_facts.h"

#include <string>
#include <string_view>
#include <vector>

#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_error.h"
#include "rouse/tls/tls_version.h"

namespace rouse::internal {

TlsVersion TlsVersionOf(const ssl_st* ssl) {
  return SSL_version(ssl) == TLS1_2_VERSION ? TlsVersion::k1_2
                                            : TlsVersion::k1_3;
}

std::string_view TlsCipherOf(const ssl_st* ssl) {
  return SSL_CIPHER_get_name(SSL_get_current_cipher(ssl));
}

std::string_view TlsAlpnOf(const ssl_st* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size);
}

std::string_view TlsServerNameOf(const ssl_st* ssl) {
  const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

bool TlsWasResumed(const ssl_st* ssl) { return SSL_session_reused(ssl) == 1; }

std::string TlsPeerSubject(const ssl_st* ssl) {
  const CertificatePtr certificate = PeerCertificate(ssl);
  return certificate == nullptr ? "" : CertificateSubject(certificate.get());
}

std::vector<std::string> TlsPeerNames(const ssl_st* ssl) {
  const CertificatePtr certificate = PeerCertificate(ssl);
  if (certificate == nullptr) return {};
  return CertificateNames(certificate.get());
}

std::string TlsPeerCertificatePem(const ssl_st* ssl) {
  const CertificatePtr certificate = PeerCertificate(ssl);
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (certificate == nullptr || bio == nullptr ||
      PEM_write_bio_X509(bio.get(), certificate.get()) != 1) {
    return "";
  }
  return TextOf(bio.get());
}

}  // namespace rouse::internal
