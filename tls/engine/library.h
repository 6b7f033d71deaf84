// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: library.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: the headers of the TLS library, owners of the library's
// objects, and every difference between OpenSSL 3 and BoringSSL. Other files
// use only functions that both libraries have.

#ifndef ROUSE_TLS_ENGINE_LIBRARY_H_
#define ROUSE_TLS_ENGINE_LIBRARY_H_

#include "rouse/base/cxx20.h"

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL is missing; on Debian, apt-get install libssl-dev"
#endif
// IWYU pragma: begin_exports
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
// IWYU pragma: end_exports

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rouse::internal {

// Frees an object of the library with the function `kFree`.
template <auto kFree>
struct LibraryDeleter {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

template <class T, auto kFree>
using LibraryPtr = std::unique_ptr<T, LibraryDeleter<kFree>>;

using BioPtr = LibraryPtr<BIO, &BIO_free>;
using CertificatePtr = LibraryPtr<X509, &X509_free>;
using KeyPtr = LibraryPtr<EVP_PKEY, &EVP_PKEY_free>;
using SessionPtr = LibraryPtr<SSL_SESSION, &SSL_SESSION_free>;
using SslContextPtr = LibraryPtr<SSL_CTX, &SSL_CTX_free>;
using SslPtr = LibraryPtr<SSL, &SSL_free>;

// Returns a BIO that reads `text`, which must outlive the BIO.
inline BioPtr ReadBio(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Returns the text that was written into `bio`, a BIO in memory.
inline std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return std::string(text, static_cast<size_t>(size));
}

// Returns the certificate that the peer has presented, or null.
inline CertificatePtr PeerCertificate(const SSL* ssl) {
#ifdef OPENSSL_IS_BORINGSSL
  return CertificatePtr(SSL_get_peer_certificate(ssl));
#else
  return CertificatePtr(SSL_get1_peer_certificate(ssl));
#endif
}

// Refuses renegotiation. BoringSSL refuses renegotiation anyway.
inline void RefuseRenegotiation(SSL_CTX* context) {
#ifdef OPENSSL_IS_BORINGSSL
  (void)context;
#else
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
#endif
}

// Has a server issue no tickets.
inline void IssueNoTickets(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
#ifndef OPENSSL_IS_BORINGSSL
  // In TLS 1.3, the option alone makes tickets that name a session in a cache.
  SSL_CTX_set_num_tickets(context, 0);
#endif
}

// Returns whether the next write will send a change of keys. OpenSSL refuses
// another change until then. BoringSSL does not.
inline bool HasKeyUpdate(const SSL* ssl) {
#ifdef OPENSSL_IS_BORINGSSL
  (void)ssl;
  return false;
#else
  return SSL_get_key_update_type(ssl) != SSL_KEY_UPDATE_NONE;
#endif
}

// Adds the certificates that the operating system trusts. Returns false if the
// certificates cannot be read. OpenSSL does not notice that there are none.
// BoringSSL does not know where Linux has them.
inline bool AddSystemRoots(SSL_CTX* context) {
#ifdef OPENSSL_IS_BORINGSSL
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt",
                           "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (SSL_CTX_load_verify_locations(context, file, nullptr) == 1) return true;
  }
  return false;
#else
  return SSL_CTX_set_default_verify_paths(context) == 1;
#endif
}

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_LIBRARY_H_
