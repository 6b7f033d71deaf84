// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: test_certificates.h
// -----------------------------------------------------------------------------
//
// For the tests in tls/: makes keys and certificates, so that the repository
// contains no keys.

#ifndef ROUSE_TLS_TEST_CERTIFICATES_H_
#define ROUSE_TLS_TEST_CERTIFICATES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace rouse {

// A certificate with the certificates of the authorities except the root, and
// the key of the certificate, in PEM format.
struct TestIdentity {
  TestIdentity(std::string chain, std::string key)
      : chain(std::move(chain)), key(std::move(key)) {}

  std::string chain;
  std::string key;
};

// The time in which a certificate is valid, from now on.
struct TestValidity {
  explicit TestValidity(absl::Duration from = -absl::Hours(24),
                        absl::Duration to = absl::Hours(24))
      : from(from), to(to) {}

  absl::Duration from;
  absl::Duration to;
};

// TestAuthority
//
// Signs certificates. A value; copies share the key.
class TestAuthority {
 public:
  // Makes a root.
  explicit TestAuthority(const std::string& name = "Test Root");

  // Makes an authority with a certificate that this authority signs.
  TestAuthority Intermediate(const std::string& name) const;

  // Signs a certificate for `names`, each a DNS name or an IP address. The
  // common name is the first of `names`.
  TestIdentity Issue(const std::vector<std::string>& names,
                     TestValidity validity = TestValidity()) const;

  // Signs a certificate that has a common name, but no DNS name or IP address.
  TestIdentity IssueNameless(const std::string& common_name) const;

  // Makes a self-signed certificate.
  static TestIdentity SelfSigned(const std::vector<std::string>& names);

  // Returns the certificate in PEM format.
  const std::string& pem() const;

 private:
  struct State;

  TestAuthority(const std::string& name, std::shared_ptr<const State> parent);

  TestIdentity Sign(const std::string& common_name,
                    const std::vector<std::string>& names,
                    TestValidity validity) const;

  std::shared_ptr<const State> state_;
};

// Returns a key in PEM format, encrypted with a password.
std::string EncryptedTestKey();

}  // namespace rouse

#endif  // ROUSE_TLS_TEST_CERTIFICATES_H_
