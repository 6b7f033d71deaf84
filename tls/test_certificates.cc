// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/test_certificates.h"

#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/tls/engine/library.h"

namespace rouse {
namespace {

using internal::BioPtr;
using internal::CertificatePtr;
using internal::KeyPtr;
using internal::LibraryPtr;
using internal::TextOf;

KeyPtr NewKey() {
  const LibraryPtr<EVP_PKEY_CTX, &EVP_PKEY_CTX_free> context(
      EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr));
  EVP_PKEY* key = nullptr;
  CHECK_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  CHECK_EQ(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.get(),
                                                  NID_X9_62_prime256v1),
           1);
  CHECK_EQ(EVP_PKEY_keygen(context.get(), &key), 1);
  return KeyPtr(key);
}

std::string PemOf(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK_EQ(PEM_write_bio_X509(bio.get(), certificate), 1);
  return TextOf(bio.get());
}

std::string PemOf(EVP_PKEY* key, const EVP_CIPHER* cipher = nullptr,
                  std::string password = "") {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK_EQ(PEM_write_bio_PrivateKey(
               bio.get(), key, cipher,
               reinterpret_cast<unsigned char*>(password.data()),
               static_cast<int>(password.size()), nullptr, nullptr),
           1);
  return TextOf(bio.get());
}

void AddExtension(X509* certificate, X509* issuer, int nid,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const LibraryPtr<X509_EXTENSION, &X509_EXTENSION_free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  CHECK(extension != nullptr) << value;
  CHECK_EQ(X509_add_ext(certificate, extension.get(), -1), 1);
}

// Makes a certificate for `key`. It is its own issuer if `issuer` is null.
CertificatePtr Make(const std::string& name, EVP_PKEY* key, X509* issuer,
                    EVP_PKEY* issuer_key, TestValidity validity,
                    const std::vector<std::string>& names, bool is_authority) {
  static std::atomic<long> serial = 1;
  CertificatePtr certificate(X509_new());
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  // Relaxed: only the value matters.
  ASN1_INTEGER_set(X509_get_serialNumber(x),
                   serial.fetch_add(1, std::memory_order_relaxed));
  X509_gmtime_adj(X509_getm_notBefore(x), absl::ToInt64Seconds(validity.from));
  X509_gmtime_adj(X509_getm_notAfter(x), absl::ToInt64Seconds(validity.to));
  X509_set_pubkey(x, key);
  X509_NAME* const subject = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(
      subject, "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  if (issuer == nullptr) issuer = x;
  X509_set_issuer_name(x, X509_get_subject_name(issuer));
  if (is_authority) {
    AddExtension(x, issuer, NID_basic_constraints, "critical,CA:TRUE");
    AddExtension(x, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  AddExtension(x, issuer, NID_subject_key_identifier, "hash");
  std::string list;
  for (const std::string& each : names) {
    const bool is_ip =
        each.find_first_not_of("0123456789.") == std::string::npos ||
        each.find(':') != std::string::npos;
    absl::StrAppend(&list, list.empty() ? "" : ",",
                    is_ip ? "IP:" : "DNS:", each);
  }
  if (!list.empty()) AddExtension(x, issuer, NID_subject_alt_name, list);
  CHECK_NE(X509_sign(x, issuer_key == nullptr ? key : issuer_key, EVP_sha256()),
           0);
  return certificate;
}

}  // namespace

struct TestAuthority::State {
  KeyPtr key;
  CertificatePtr certificate;
  std::string pem;
  std::string chain;  // of the authority itself and those above, but the root
};

TestAuthority::TestAuthority(const std::string& name)
    : TestAuthority(name, nullptr) {}

TestAuthority::TestAuthority(const std::string& name,
                             std::shared_ptr<const State> parent) {
  auto state = std::make_shared<State>();
  state->key = NewKey();
  state->certificate =
      Make(name, state->key.get(),
           parent == nullptr ? nullptr : parent->certificate.get(),
           parent == nullptr ? nullptr : parent->key.get(), TestValidity(), {},
           /*is_authority=*/true);
  state->pem = PemOf(state->certificate.get());
  if (parent != nullptr) state->chain = absl::StrCat(state->pem, parent->chain);
  state_ = std::move(state);
}

TestAuthority TestAuthority::Intermediate(const std::string& name) const {
  return TestAuthority(name, state_);
}

TestIdentity TestAuthority::Issue(const std::vector<std::string>& names,
                                  TestValidity validity) const {
  return Sign(names.at(0), names, validity);
}

TestIdentity TestAuthority::IssueNameless(
    const std::string& common_name) const {
  return Sign(common_name, {}, TestValidity());
}

TestIdentity TestAuthority::Sign(const std::string& common_name,
                                 const std::vector<std::string>& names,
                                 TestValidity validity) const {
  const KeyPtr key = NewKey();
  const CertificatePtr certificate =
      Make(common_name, key.get(), state_->certificate.get(), state_->key.get(),
           validity, names, /*is_authority=*/false);
  return TestIdentity(absl::StrCat(PemOf(certificate.get()), state_->chain),
                      PemOf(key.get()));
}

TestIdentity TestAuthority::SelfSigned(const std::vector<std::string>& names) {
  const KeyPtr key = NewKey();
  const CertificatePtr certificate =
      Make(names.at(0), key.get(), nullptr, nullptr, TestValidity(), names,
           /*is_authority=*/false);
  return TestIdentity(PemOf(certificate.get()), PemOf(key.get()));
}

const std::string& TestAuthority::pem() const { return state_->pem; }

std::string EncryptedTestKey() {
  return PemOf(NewKey().get(), EVP_aes_128_cbc(), "password");
}

}  // namespace rouse
