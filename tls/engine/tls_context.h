// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_context.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: the state that all connections of a `TlsConnector` or a
// `TlsAcceptor` share.

#ifndef ROUSE_TLS_ENGINE_TLS_CONTEXT_H_
#define ROUSE_TLS_ENGINE_TLS_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_error.h"
#include "rouse/tls/engine/tls_settings.h"

namespace rouse::internal {

// TlsSessionCache
//
// The sessions that a client can resume, by host. Thread-safe. Keeps the newest
// sessions of each host, and the hosts that were used last.
class TlsSessionCache {
 public:
  static constexpr size_t kHosts = 256;
  static constexpr size_t kSessionsOfHost = 4;

  TlsSessionCache() = default;
  TlsSessionCache(const TlsSessionCache&) = delete;
  TlsSessionCache& operator=(const TlsSessionCache&) = delete;

  // Adds a session of `host`.
  void Put(std::string_view host, SessionPtr session);

  // Returns the newest session of `host`, or null. A session of TLS 1.3 is
  // removed: whoever observes the network could otherwise connect the uses of
  // one ticket (RFC 8446, appendix C.4).
  SessionPtr Take(std::string_view host);

 private:
  struct Host {
    uint64_t used = 0;
    std::vector<SessionPtr> sessions;  // the newest last
  };

  ThreadMutex mu_;
  uint64_t clock_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, Host> hosts_ ABSL_GUARDED_BY(mu_);
};

// TlsContext
//
// Immutable after `Make()`, except for the cache. Thread-safe.
class TlsContext {
 public:
  // Reads the files that `settings` names, and blocks meanwhile. Errors:
  //
  //   InvalidArgument   a text is not in PEM format, a key does not belong to
  //                     its certificate, or settings contradict each other
  //
  // and the errors of reading a file, such as NotFound.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Make(
      const TlsSettings& settings);

  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  TlsEnd end() const { return end_; }
  SSL_CTX* ssl_ctx() const { return context_.get(); }
  TlsSessionCache& sessions() { return sessions_; }

 private:
  struct Identity;

  TlsContext(TlsEnd end, SslContextPtr context);

  absl::Status Apply(const TlsSettings& settings);
  absl::Status AddRoots(const TlsPem& roots);
  absl::Status AddIdentity(const TlsIdentityPem& pem);
  absl::Status SetAlpn(const std::vector<std::string>& protocols);

  // Callbacks of the library.
  static int ChooseProtocol(SSL* ssl, const unsigned char** chosen,
                            unsigned char* chosen_size,
                            const unsigned char* offered, unsigned offered_size,
                            void* context);
  static int ChooseIdentity(SSL* ssl, void* context);

  const TlsEnd end_;
  const SslContextPtr context_;
  std::vector<std::unique_ptr<Identity>> identities_;
  std::string alpn_;  // each name after a byte with its length
  TlsSessionCache sessions_;
};

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_CONTEXT_H_
