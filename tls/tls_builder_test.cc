// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the builders of `TlsConnector` and `TlsAcceptor`: files, and settings
// that are wrong.

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_fixture.h"
#include "rouse/tls/tls_version.h"

namespace rouse {
namespace {

using absl_testing::IsOk;
using absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsBuilderTest : public TlsTest {
 protected:
  // Writes a file, and returns its path.
  std::string File(std::string_view name, std::string_view text) {
    std::string path = absl::StrCat(::testing::TempDir(), "/", name);
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(TlsBuilderTest, ReadsFiles) {
  const std::string chain = File("chain.pem", identity_.chain);
  const std::string key = File("key.pem", identity_.key);
  const std::string root = File("root.pem", authority_.pem());
  // The key can be in the file of the certificates.
  const std::string both =
      File("both.pem", absl::StrCat(identity_.key, identity_.chain));
  const TlsConnector client = TlsConnector::Builder()
                                  .SystemRoots(false)
                                  .AddRootsFile(root)
                                  .Build()
                                  .value();
  for (const auto& [chain_path, key_path] :
       {std::pair(chain, key), std::pair(both, both)}) {
    const TlsAcceptor server = TlsAcceptor::Builder()
                                   .CertificateFile(chain_path, key_path)
                                   .Build()
                                   .value();
    auto [a, b] = Connected(client, server);
    Exchange(a, b);
  }
}

TEST_F(TlsBuilderTest, NamesTheFileThatCannotBeRead) {
  EXPECT_THAT(TlsConnector::Builder().AddRootsFile("no/such.pem").Build(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("cannot read \"no/such.pem\"")));
  EXPECT_THAT(
      TlsAcceptor::Builder().CertificateFile("no/a.pem", "b.pem").Build(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"no/a.pem\"")));
  EXPECT_THAT(TlsAcceptor::Builder()
                  .CertificateFile(File("c.pem", identity_.chain), "no/b.pem")
                  .Build(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"no/b.pem\"")));
  EXPECT_FALSE(
      TlsConnector::Builder().AddRootsFile(::testing::TempDir()).Build().ok());
}

TEST_F(TlsBuilderTest, RefusesTextsThatAreNotPem) {
  const std::string empty = File("empty.pem", "");
  EXPECT_THAT(TlsConnector::Builder().AddRootsFile(empty).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(absl::StrCat(
                           "\"", empty, "\" contains no certificate in PEM"))));
  EXPECT_THAT(TlsConnector::Builder().AddRoots("root.pem").Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the text of AddRoots() contains no")));
  std::string damaged = authority_.pem();
  damaged[damaged.size() / 2] = '!';
  EXPECT_THAT(
      TlsConnector::Builder().AddRoots(damaged).Build(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is damaged")));
  // Not even the second certificate.
  EXPECT_THAT(
      TlsConnector::Builder()
          .AddRoots(absl::StrCat(authority_.pem(), damaged))
          .Build(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is damaged")));
  EXPECT_THAT(TlsAcceptor::Builder().Certificate("", identity_.key).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the text of Certificate() contains no")));
  EXPECT_THAT(
      TlsAcceptor::Builder().Certificate(identity_.chain, "key").Build(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("contains no private key")));
}

TEST_F(TlsBuilderTest, RefusesAnEncryptedKeyWithoutAsking) {
  EXPECT_THAT(
      TlsAcceptor::Builder()
          .Certificate(identity_.chain, EncryptedTestKey())
          .Build(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not encrypted")));
}

TEST_F(TlsBuilderTest, RefusesAKeyOfAnotherCertificate) {
  const TestIdentity other = authority_.Issue({"other"});
  EXPECT_THAT(
      TlsAcceptor::Builder().Certificate(identity_.chain, other.key).Build(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("does not belong to the certificate")));
}

TEST_F(TlsBuilderTest, RefusesSettingsThatContradictEachOther) {
  EXPECT_THAT(TlsAcceptor::Builder().Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("a server needs a certificate"),
                             HasSubstr("CertificateFile()"))));
  EXPECT_THAT(
      ServerBuilder().RequireClientCertificate().Build(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("AddRoots()")));
  EXPECT_THAT(ClientBuilder()
                  .MinVersion(TlsVersion::k1_3)
                  .MaxVersion(TlsVersion::k1_2)
                  .Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MinVersion() is above MaxVersion()")));
  EXPECT_THAT(ClientBuilder()
                  .Certificate(identity_.chain, identity_.key)
                  .Certificate(identity_.chain, identity_.key)
                  .Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("only one certificate")));
  EXPECT_THAT(ClientBuilder().Alpn({"h2", ""}).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Alpn")));
  EXPECT_THAT(ClientBuilder().Alpn({std::string(256, 'x')}).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("256")));
}

TEST_F(TlsBuilderTest, SaysThatTheSystemHasNoRoots) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/roots");
  std::filesystem::create_directory(folder);
  const std::string none = absl::StrCat(folder, "/none.pem");
  // Names nothing that the library would read.
  std::ofstream(absl::StrCat(folder, "/README"));
  ASSERT_EQ(setenv("SSL_CERT_FILE", none.c_str(), 1), 0);
  ASSERT_EQ(setenv("SSL_CERT_DIR", absl::StrCat("no/such:", folder).c_str(), 1),
            0);
  EXPECT_THAT(TlsConnector::Builder().Build(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("TlsConnector::Builder"),
                             HasSubstr("ca-certificates"),
                             HasSubstr("AddRootsFile()"))));
  // Other roots suffice.
  EXPECT_THAT(TlsConnector::Builder().AddRoots(authority_.pem()).Build(),
              IsOk());
  EXPECT_THAT(TlsConnector::Builder().SystemRoots(false).Build(), IsOk());

  // A folder has files by a hash of the subject, and is read later.
  std::ofstream(absl::StrCat(folder, "/5ed36f99.0")) << authority_.pem();
  EXPECT_THAT(TlsConnector::Builder().Build(), IsOk());
  ASSERT_EQ(setenv("SSL_CERT_DIR", "no/such", 1), 0);
  EXPECT_FALSE(TlsConnector::Builder().Build().ok());
  ASSERT_EQ(
      setenv("SSL_CERT_FILE", File("system.pem", authority_.pem()).c_str(), 1),
      0);
  const absl::StatusOr<TlsConnector> client = TlsConnector::Builder().Build();
  ASSERT_THAT(client, IsOk());
  auto [a, b] = Connected(*client, Server());
  Exchange(a, b);
  unsetenv("SSL_CERT_FILE");
  unsetenv("SSL_CERT_DIR");
}

TEST_F(TlsBuilderTest, BuildsSeveralTimes) {
  TlsConnector::Builder builder = ClientBuilder();
  EXPECT_THAT(builder.Build(), IsOk());
  const absl::StatusOr<TlsConnector> again = builder.Build();
  ASSERT_THAT(again, IsOk());
  EXPECT_NE(again->ssl_ctx(), nullptr);
  const TlsConnector copy = *again;
  EXPECT_EQ(copy.ssl_ctx(), again->ssl_ctx());
  EXPECT_NE(Server().ssl_ctx(), nullptr);
}

}  // namespace
}  // namespace rouse
