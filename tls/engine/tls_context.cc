// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/engine/tls_context.h"

#include <dirent.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_engine.h"
#include "rouse/tls/engine/tls_error.h"
#include "rouse/tls/engine/tls_settings.h"
#include "rouse/tls/tls_version.h"

namespace rouse::internal {
namespace {

struct ChainDeleter {
  void operator()(STACK_OF(X509) * chain) const {
    sk_X509_pop_free(chain, &X509_free);
  }
};
using ChainPtr = std::unique_ptr<STACK_OF(X509), ChainDeleter>;

// Names the source of a text in a message.
std::string NameOf(const TlsPem& pem, std::string_view what) {
  return pem.is_file ? absl::StrCat("\"", pem.text, "\"")
                     : absl::StrCat("the text of ", what);
}

absl::StatusOr<std::string> Load(const TlsPem& pem) {
  if (!pem.is_file) return pem.text;
  const auto failed = [&pem](int error) {
    return absl::ErrnoToStatus(error,
                               absl::StrCat("cannot read \"", pem.text, "\""));
  };
  const std::unique_ptr<FILE, int (*)(FILE*)> file(
      std::fopen(pem.text.c_str(), "re"), &std::fclose);
  if (file == nullptr) return failed(errno);
  std::string text;
  char buffer[4096];
  for (;;) {
    errno = 0;
    const size_t size = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, size);
    if (size == sizeof buffer) continue;
    if (std::ferror(file.get()) != 0) return failed(errno);
    return text;
  }
}

// Reads the next certificate of `bio`. Returns null at the end.
absl::StatusOr<CertificatePtr> NextCertificate(BIO* bio, const TlsPem& pem,
                                               std::string_view what) {
  ERR_clear_error();
  CertificatePtr certificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  if (certificate != nullptr) return certificate;
  const auto error = ERR_peek_last_error();
  const bool is_end = ERR_GET_LIB(error) == ERR_LIB_PEM &&
                      ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  const std::string words = TakeLibraryWords();
  if (is_end) return CertificatePtr();
  return absl::InvalidArgumentError(
      absl::StrCat("a certificate in ", NameOf(pem, what), " is damaged (",
                   words, "); it must be in PEM format"));
}

int WireVersion(TlsVersion version) {
  return version == TlsVersion::k1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

// Returns whether `folder` has a certificate for a handshake, in a file such as
// "5ed36f99.0".
bool HasCertificate(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()),
                                                    &closedir);
  if (entries == nullptr) return false;
  while (const dirent* const entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.size() > 9 && name[8] == '.' &&
        name.find_first_not_of("0123456789abcdef") == 8) {
      return true;
    }
  }
  return false;
}

// Adds the certificates that the system trusts. Returns whether there are any.
bool HasSystemRoots(SSL_CTX* context) {
  if (!AddSystemRoots(context)) return false;
  // The library has read the file, and reads the folders later.
  const X509_STORE* const store = SSL_CTX_get_cert_store(context);
  if (sk_X509_OBJECT_num(X509_STORE_get0_objects(store)) > 0) return true;
  // The library, too, ignores the variable in a set-user-ID program.
  const char* const chosen = secure_getenv(X509_get_default_cert_dir_env());
  const std::vector<std::string> each = absl::StrSplit(
      chosen == nullptr ? X509_get_default_cert_dir() : chosen, ':');
  return std::any_of(each.begin(), each.end(), &HasCertificate);
}

// Has no password for an encrypted key. The library would otherwise ask for one
// on the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

}  // namespace

void TlsSessionCache::Put(std::string_view host, SessionPtr session) {
  std::vector<SessionPtr> dropped;  // freed after the lock is released
  const ThreadMutexLock lock(&mu_);
  auto found = hosts_.find(host);
  if (found == hosts_.end()) {
    if (hosts_.size() == kHosts) {
      const auto oldest = std::min_element(
          hosts_.begin(), hosts_.end(), [](const auto& a, const auto& b) {
            return a.second.used < b.second.used;
          });
      dropped = std::move(oldest->second.sessions);
      hosts_.erase(oldest);
    }
    found = hosts_.try_emplace(std::string(host)).first;
  }
  Host& entry = found->second;
  entry.used = ++clock_;
  if (entry.sessions.size() == kSessionsOfHost) {
    dropped.push_back(std::move(entry.sessions.front()));
    entry.sessions.erase(entry.sessions.begin());
  }
  entry.sessions.push_back(std::move(session));
}

SessionPtr TlsSessionCache::Take(std::string_view host) {
  const ThreadMutexLock lock(&mu_);
  const auto found = hosts_.find(host);
  if (found == hosts_.end() || found->second.sessions.empty()) return nullptr;
  Host& entry = found->second;
  entry.used = ++clock_;
  SessionPtr& newest = entry.sessions.back();
  if (SSL_SESSION_get_protocol_version(newest.get()) < TLS1_3_VERSION) {
    SSL_SESSION_up_ref(newest.get());
    return SessionPtr(newest.get());
  }
  SessionPtr taken = std::move(newest);
  entry.sessions.pop_back();
  return taken;
}

// A certificate that a server can choose.
struct TlsContext::Identity {
  CertificatePtr certificate;
  KeyPtr key;
  ChainPtr chain;
};

TlsContext::TlsContext(TlsEnd end, SslContextPtr context)
    : end_(end), context_(std::move(context)) {}

TlsContext::~TlsContext() = default;

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Make(
    const TlsSettings& settings) {
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_method()));
  if (context == nullptr) {
    return absl::InternalError(
        absl::StrCat("the TLS library does not start: ", TakeLibraryWords()));
  }
  std::shared_ptr<TlsContext> result(
      new TlsContext(settings.end, std::move(context)));
  absl::Status applied = result->Apply(settings);
  ERR_clear_error();
  if (!applied.ok()) return applied;
  return result;
}

absl::Status TlsContext::Apply(const TlsSettings& settings) {
  SSL_CTX* const context = context_.get();
  const bool is_client = settings.end == TlsEnd::kClient;
  const std::string_view builder =
      is_client ? "TlsConnector::Builder" : "TlsAcceptor::Builder";
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // One read of the stream takes whole records, instead of first a header.
  SSL_CTX_set_read_ahead(context, 1);
  RefuseRenegotiation(context);
  SSL_CTX_set_default_passwd_cb(context, &NoPassword);

  if (settings.min_version > settings.max_version) {
    return absl::InvalidArgumentError(absl::StrCat(
        builder, ": MinVersion() is above MaxVersion(); exchange them"));
  }
  SSL_CTX_set_min_proto_version(context, WireVersion(settings.min_version));
  SSL_CTX_set_max_proto_version(context, WireVersion(settings.max_version));

  const bool verifies =
      settings.peer_certificate != TlsPeerCertificate::kIgnored;
  const int must = settings.peer_certificate == TlsPeerCertificate::kRequired
                       ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                       : SSL_VERIFY_PEER;
  SSL_CTX_set_verify(context, verifies ? must : SSL_VERIFY_NONE,
                     verifies ? &TlsEngine::OnCertificate : nullptr);
  // A program that adds roots may run in an image that has no others.
  if (settings.system_roots && verifies && !HasSystemRoots(context) &&
      settings.roots.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        builder,
        ": this system has no certificates of authorities that it trusts; "
        "install the package ca-certificates, or use AddRootsFile()"));
  }
  for (const TlsPem& roots : settings.roots) {
    absl::Status added = AddRoots(roots);
    if (!added.ok()) return added;
  }
  if (!is_client && verifies && settings.roots.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        builder,
        ": client certificates need an authority; add its certificate with "
        "AddRoots() or AddRootsFile()"));
  }
  if (!is_client && settings.identities.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(builder,
                     ": a server needs a certificate; use Certificate() or "
                     "CertificateFile()"));
  }
  if (is_client && settings.identities.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(builder,
                     ": a client can present only one certificate; call "
                     "Certificate() once"));
  }
  for (const TlsIdentityPem& pem : settings.identities) {
    absl::Status added = AddIdentity(pem);
    if (!added.ok()) return added;
  }
  if (identities_.size() > 1) {
    SSL_CTX_set_cert_cb(context, &ChooseIdentity, this);
  }
  absl::Status alpn = SetAlpn(settings.alpn);
  if (!alpn.ok()) return alpn;

  SSL_CTX_sess_set_new_cb(context, &TlsEngine::OnSession);
  // A client's sessions are in `sessions_`, and a server's in the tickets.
  SSL_CTX_set_session_cache_mode(
      context, is_client && settings.resumption
                   ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                   : SSL_SESS_CACHE_OFF);
  if (!is_client) {
    // Without it, a server that checks client certificates resumes nothing.
    constexpr unsigned char kId[] = {'r', 'o', 'u', 's', 'e'};
    SSL_CTX_set_session_id_context(context, kId, sizeof kId);
    if (!settings.resumption) IssueNoTickets(context);
  }
  return absl::OkStatus();
}

absl::Status TlsContext::AddRoots(const TlsPem& roots) {
  absl::StatusOr<std::string> text = Load(roots);
  if (!text.ok()) return text.status();
  const BioPtr bio = ReadBio(*text);
  X509_STORE* const store = SSL_CTX_get_cert_store(context_.get());
  for (size_t count = 0;; ++count) {
    absl::StatusOr<CertificatePtr> root =
        NextCertificate(bio.get(), roots, "AddRoots()");
    if (!root.ok()) return root.status();
    if (*root == nullptr) {
      if (count > 0) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(NameOf(roots, "AddRoots()"),
                       " contains no certificate in PEM format"));
    }
    // Fails for a certificate that is there already, in older libraries.
    (void)X509_STORE_add_cert(store, root->get());
    // The server names these authorities to its clients.
    if (end_ == TlsEnd::kServer) {
      (void)SSL_CTX_add_client_CA(context_.get(), root->get());
    }
  }
}

absl::Status TlsContext::AddIdentity(const TlsIdentityPem& pem) {
  constexpr std::string_view kName = "Certificate()";
  absl::StatusOr<std::string> text = Load(pem.chain);
  if (!text.ok()) return text.status();
  auto identity = std::make_unique<Identity>();
  identity->chain.reset(sk_X509_new_null());
  const BioPtr bio = ReadBio(*text);
  for (;;) {
    absl::StatusOr<CertificatePtr> next =
        NextCertificate(bio.get(), pem.chain, kName);
    if (!next.ok()) return next.status();
    if (*next == nullptr) break;
    if (identity->certificate == nullptr) {
      identity->certificate = *std::move(next);
    } else {
      sk_X509_push(identity->chain.get(), next->release());
    }
  }
  if (identity->certificate == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        NameOf(pem.chain, kName), " contains no certificate in PEM format"));
  }

  absl::StatusOr<std::string> key_text = Load(pem.key);
  if (!key_text.ok()) return key_text.status();
  const BioPtr key_bio = ReadBio(*key_text);
  identity->key.reset(
      PEM_read_bio_PrivateKey(key_bio.get(), nullptr, &NoPassword, nullptr));
  OPENSSL_cleanse(key_text->data(), key_text->size());
  if (identity->key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        NameOf(pem.key, "the key"),
        " contains no private key in PEM format that is not encrypted (",
        TakeLibraryWords(), ")"));
  }
  if (X509_check_private_key(identity->certificate.get(),
                             identity->key.get()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the key in ", NameOf(pem.key, "the key"),
        " does not belong to the certificate in ", NameOf(pem.chain, kName)));
  }
  // The first certificate is also the one for clients that give no name.
  if (identities_.empty() &&
      (SSL_CTX_use_certificate(context_.get(), identity->certificate.get()) !=
           1 ||
       SSL_CTX_set1_chain(context_.get(), identity->chain.get()) != 1 ||
       SSL_CTX_use_PrivateKey(context_.get(), identity->key.get()) != 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the certificate in ", NameOf(pem.chain, kName),
                     " cannot be used: ", TakeLibraryWords()));
  }
  identities_.push_back(std::move(identity));
  return absl::OkStatus();
}

absl::Status TlsContext::SetAlpn(const std::vector<std::string>& protocols) {
  for (const std::string& protocol : protocols) {
    if (protocol.empty() || protocol.size() > 255) {
      return absl::InvalidArgumentError(
          absl::StrCat("Alpn: the name \"", protocol.substr(0, 40), "\" has ",
                       protocol.size(), " bytes; 1 to 255 are allowed"));
    }
    alpn_.push_back(static_cast<char>(protocol.size()));
    alpn_.append(protocol);
  }
  if (alpn_.empty()) return absl::OkStatus();
  if (end_ == TlsEnd::kServer) {
    SSL_CTX_set_alpn_select_cb(context_.get(), &ChooseProtocol, this);
    return absl::OkStatus();
  }
  // Returns 0 if all is well, unlike other functions of the library.
  if (SSL_CTX_set_alpn_protos(
          context_.get(), reinterpret_cast<const unsigned char*>(alpn_.data()),
          static_cast<unsigned>(alpn_.size())) != 0) {
    return absl::InvalidArgumentError("Alpn: the names are too long together");
  }
  return absl::OkStatus();
}

int TlsContext::ChooseProtocol(SSL*, const unsigned char** chosen,
                               unsigned char* chosen_size,
                               const unsigned char* offered,
                               unsigned offered_size, void* context) {
  const std::string& own = static_cast<TlsContext*>(context)->alpn_;
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size,
                            reinterpret_cast<const unsigned char*>(own.data()),
                            static_cast<unsigned>(own.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

int TlsContext::ChooseIdentity(SSL* ssl, void* context) {
  const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  // The first certificate is the one of the context.
  if (name == nullptr) return 1;
  const std::string_view host(name);
  for (const auto& identity : static_cast<TlsContext*>(context)->identities_) {
    if (X509_check_host(identity->certificate.get(), host.data(), host.size(),
                        0, nullptr) != 1) {
      continue;
    }
    // Certificates with other kinds of keys would stay beside the chosen one.
    SSL_certs_clear(ssl);
    return SSL_use_certificate(ssl, identity->certificate.get()) == 1 &&
                   SSL_set1_chain(ssl, identity->chain.get()) == 1 &&
                   SSL_use_PrivateKey(ssl, identity->key.get()) == 1
               ? 1
               : 0;
  }
  return 1;
}

}  // namespace rouse::internal
