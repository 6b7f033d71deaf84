// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests handshakes: certificates, names, versions, protocols and sessions, with
// the messages for users.

#include <stdlib.h>

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/join.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_fixture.h"
#include "rouse/tls/tls_stream.h"
#include "rouse/tls/tls_version.h"

namespace rouse {
namespace {

using absl_testing::IsOk;
using absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TlsHandshakeTest : public TlsTest {
 protected:
  // Returns the client's error for a server with `identity`.
  absl::Status ErrorFor(const TestIdentity& identity,
                        std::string_view host = "example.com") {
    const TlsAcceptor server = TlsAcceptor::Builder()
                                   .Certificate(identity.chain, identity.key)
                                   .Build()
                                   .value();
    auto [a, b] = Handshake(Client(), server, host);
    // The server is told why.
    EXPECT_FALSE(b.ok());
    return a.status();
  }

  TestAuthority other_{"Other Root"};
};

TEST_F(TlsHandshakeTest, AgreesAndSaysOnWhat) {
  auto [client, server] = Connected();
  EXPECT_EQ(client.version(), TlsVersion::k1_3);
  EXPECT_EQ(server.version(), TlsVersion::k1_3);
  EXPECT_EQ(absl::StrCat(client.version()), "TLS 1.3");
  EXPECT_EQ(client.cipher(), server.cipher());
  EXPECT_THAT(client.cipher(), HasSubstr("TLS_"));
  EXPECT_EQ(client.alpn(), "");
  EXPECT_EQ(server.server_name(), "example.com");
  EXPECT_FALSE(client.resumed());
  EXPECT_THAT(client.peer_names(),
              ElementsAre("example.com", "*.example.org", "127.0.0.1", "::1"));
  EXPECT_EQ(client.peer_subject(), "CN=example.com");
  EXPECT_THAT(client.peer_certificate(), HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_EQ(server.peer_subject(), "");
  EXPECT_EQ(server.peer_certificate(), "");
  EXPECT_THAT(server.peer_names(), ElementsAre());
  EXPECT_NE(client.ssl(), nullptr);
  Exchange(client, server);
}

TEST_F(TlsHandshakeTest, AcceptsEachNameOfTheCertificate) {
  for (const std::string_view host :
       {"example.com", "EXAMPLE.com", "example.com.", "a.example.org",
        "127.0.0.1", "::1", "[::1]", "::1%lo"}) {
    SCOPED_TRACE(host);
    auto [client, server] = Handshake(Client(), Server(), host);
    EXPECT_THAT(client, IsOk());
    ASSERT_THAT(server, IsOk());
    // An address is not a name for SNI.
    const bool is_name = host.find("xample") != std::string_view::npos ||
                         host.find("XAMPLE") != std::string_view::npos;
    EXPECT_EQ(server->server_name().empty(), !is_name);
  }
}

TEST_F(TlsHandshakeTest, RefusesAnotherHost) {
  for (const std::string_view host :
       {"example.net", "example.com%evil", "a.b.example.org", "example.org",
        "127.0.0.2", "::2"}) {
    SCOPED_TRACE(host);
    EXPECT_THAT(
        ErrorFor(identity_, host),
        StatusIs(absl::StatusCode::kUnauthenticated,
                 AllOf(HasSubstr(absl::StrCat("certificate of \"", host, "\"")),
                       HasSubstr("is for \"example.com\", \"*.example.org\", "
                                 "\"127.0.0.1\", \"::1\" only"))));
  }
}

TEST_F(TlsHandshakeTest, RefusesAnExpiredCertificate) {
  const TestIdentity expired = authority_.Issue(
      {"example.com"}, TestValidity(-absl::Hours(48), -absl::Hours(24)));
  const std::string day = absl::FormatTime(
      "%Y-%m-%d", absl::Now() - absl::Hours(24), absl::UTCTimeZone());
  EXPECT_THAT(ErrorFor(expired),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       AllOf(HasSubstr("certificate of \"example.com\" has "
                                       "expired (on 2"),
                             HasSubstr(day), HasSubstr("renewed"))));
}

TEST_F(TlsHandshakeTest, RefusesACertificateOfTheFuture) {
  const TestIdentity early = authority_.Issue(
      {"example.com"}, TestValidity(absl::Hours(24), absl::Hours(48)));
  EXPECT_THAT(ErrorFor(early), StatusIs(absl::StatusCode::kUnauthenticated,
                                        HasSubstr("check the clock")));
}

TEST_F(TlsHandshakeTest, RefusesASelfSignedCertificate) {
  EXPECT_THAT(
      ErrorFor(TestAuthority::SelfSigned({"example.com"})),
      StatusIs(absl::StatusCode::kUnauthenticated,
               AllOf(HasSubstr("certificate of \"example.com\" is self-signed"),
                     HasSubstr("AddRootsFile()"))));
}

TEST_F(TlsHandshakeTest, RefusesAnUnknownAuthority) {
  EXPECT_THAT(ErrorFor(other_.Issue({"example.com"})),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       AllOf(HasSubstr("authority that is not trusted "
                                       "(CN=Other Root)"),
                             HasSubstr("AddRootsFile()"))));
}

TEST_F(TlsHandshakeTest, TellsTheServerWhyItsCertificateIsRefused) {
  const TestIdentity unknown = other_.Issue({"example.com"});
  const TlsAcceptor server = TlsAcceptor::Builder()
                                 .Certificate(unknown.chain, unknown.key)
                                 .Build()
                                 .value();
  auto [a, b] = Handshake(Client(), server);
  EXPECT_THAT(b, StatusIs(absl::StatusCode::kUnauthenticated,
                          AllOf(HasSubstr("the client refused"),
                                HasSubstr("does not trust"))));
}

TEST_F(TlsHandshakeTest, TrustsASelfSignedCertificateThatWasAdded) {
  const TestIdentity own = TestAuthority::SelfSigned({"example.com"});
  const TlsConnector client = TlsConnector::Builder()
                                  .SystemRoots(false)
                                  .AddRoots(own.chain)
                                  .Build()
                                  .value();
  const TlsAcceptor server =
      TlsAcceptor::Builder().Certificate(own.chain, own.key).Build().value();
  auto [a, b] = Handshake(client, server);
  EXPECT_THAT(a, IsOk());
  EXPECT_THAT(b, IsOk());
}

TEST_F(TlsHandshakeTest, SystemRootsDoNotTrustTheTests) {
  // The machine may have no roots.
  const std::string path = absl::StrCat(::testing::TempDir(), "/system.pem");
  std::ofstream(path) << other_.pem();
  ASSERT_EQ(setenv("SSL_CERT_FILE", path.c_str(), 1), 0);
  const absl::StatusOr<TlsConnector> client = TlsConnector::Builder().Build();
  ASSERT_THAT(client, IsOk());
  auto [a, b] = Handshake(*client, Server());
  EXPECT_THAT(a, StatusIs(absl::StatusCode::kUnauthenticated));
  unsetenv("SSL_CERT_FILE");
}

TEST_F(TlsHandshakeTest, SendsTheIntermediateCertificates) {
  const TestAuthority middle = authority_.Intermediate("Middle");
  const TestIdentity leaf = middle.Intermediate("Lower").Issue({"example.com"});
  const TlsAcceptor server =
      TlsAcceptor::Builder().Certificate(leaf.chain, leaf.key).Build().value();
  auto [a, b] = Handshake(Client(), server);
  EXPECT_THAT(a, IsOk());

  // Without them, the client cannot know the authority.
  const std::string_view end = "-----END CERTIFICATE-----\n";
  const std::string alone =
      leaf.chain.substr(0, leaf.chain.find(end) + end.size());
  EXPECT_THAT(
      ErrorFor(TestIdentity(alone, leaf.key)),
      StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("(CN=Lower)")));
}

TEST_F(TlsHandshakeTest, CanAcceptAnyCertificate) {
  const TlsConnector client =
      TlsConnector::Builder().DangerouslyAcceptAnyCertificate().Build().value();
  auto [a, b] = Connected(client, Server());
  Exchange(a, b);
  auto [c, d] = Handshake(client, Server(), "another.host");
  EXPECT_THAT(c, IsOk());
}

TEST_F(TlsHandshakeTest, RefusesTextsThatAreNotHosts) {
  for (const std::string_view host :
       {std::string_view(""), std::string_view("."), std::string_view("[]"),
        std::string_view(".com"), std::string_view("a\0b", 3)}) {
    auto [a, b] = Duplex(1 << 16);
    auto handshake = Client().Connect(host, TestStream(std::move(a)));
    EXPECT_THAT(Run(handshake), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("is not a host")));
  }
  const std::string long_host(300, 'a');
  auto [a, b] = Duplex(1 << 16);
  auto handshake = Client().Connect(long_host, TestStream(std::move(a)));
  EXPECT_THAT(Run(handshake), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(TlsHandshakeTest, ChoosesTheServersCertificateByName) {
  const TestIdentity second = authority_.Issue({"second.net"});
  const TestIdentity third = authority_.Issue({"*.third.net"});
  const TlsAcceptor server = ServerBuilder()
                                 .Certificate(second.chain, second.key)
                                 .Certificate(third.chain, third.key)
                                 .Build()
                                 .value();
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"example.com", "CN=example.com"},
      {"second.net", "CN=second.net"},
      {"a.third.net", "CN=*.third.net"},
      {"127.0.0.1", "CN=example.com"}};
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    const TlsConnector client =
        ClientBuilder().MaxVersion(version).Build().value();
    for (const auto& [host, subject] : cases) {
      SCOPED_TRACE(host);
      auto [a, b] = Handshake(client, server, host);
      ASSERT_THAT(a, IsOk());
      EXPECT_EQ(a->peer_subject(), subject);
    }
  }
  // Without a match, the client sees the first certificate.
  auto [a, b] = Handshake(Client(), server, "fourth.net");
  EXPECT_THAT(a, StatusIs(absl::StatusCode::kUnauthenticated,
                          HasSubstr("\"example.com\"")));
}

TEST_F(TlsHandshakeTest, ChecksClientCertificates) {
  const TestAuthority people("People");
  const TestIdentity alice = people.Issue({"alice"});
  const TlsAcceptor server = ServerBuilder()
                                 .AddRoots(people.pem())
                                 .RequireClientCertificate()
                                 .Build()
                                 .value();
  const TlsConnector client =
      ClientBuilder().Certificate(alice.chain, alice.key).Build().value();
  auto [a, b] = Connected(client, server);
  EXPECT_EQ(b.peer_subject(), "CN=alice");
  EXPECT_THAT(b.peer_names(), ElementsAre("alice"));
  Exchange(a, b);

  const TlsAcceptor allows = ServerBuilder()
                                 .AddRoots(people.pem())
                                 .AllowClientCertificate()
                                 .Build()
                                 .value();
  auto [c, d] = Connected(client, allows);
  EXPECT_EQ(d.peer_subject(), "CN=alice");
  auto [e, f] = Connected(Client(), allows);
  EXPECT_EQ(f.peer_subject(), "");
}

TEST_F(TlsHandshakeTest, TheCommonNameIsNoNameOfAPeer) {
  const TestIdentity admin = authority_.IssueNameless("admin.internal");
  const TlsAcceptor server = ServerBuilder()
                                 .AddRoots(authority_.pem())
                                 .RequireClientCertificate()
                                 .Build()
                                 .value();
  auto [a, b] = Connected(
      ClientBuilder().Certificate(admin.chain, admin.key).Build().value(),
      server);
  EXPECT_EQ(b.peer_subject(), "CN=admin.internal");
  EXPECT_THAT(b.peer_names(), ElementsAre());

  EXPECT_THAT(ErrorFor(authority_.IssueNameless("example.com")),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       HasSubstr("\"example.com\"")));
}

TEST_F(TlsHandshakeTest, RefusesAMissingOrUnknownClientCertificate) {
  const TestAuthority people("People");
  const TlsAcceptor server = ServerBuilder()
                                 .AddRoots(people.pem())
                                 .RequireClientCertificate()
                                 .Build()
                                 .value();
  const TestIdentity stranger = other_.Issue({"stranger"});
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    SCOPED_TRACE(absl::StrCat(version));
    auto [a, b] =
        Handshake(ClientBuilder().MaxVersion(version).Build().value(), server);
    EXPECT_THAT(b, StatusIs(absl::StatusCode::kUnauthenticated,
                            AllOf(HasSubstr("the client presented no"),
                                  HasSubstr("RequireClientCertificate()"))));
    // A client of TLS 1.3 learns this when it reads.
    const absl::Status status = a.ok() ? ReadSome(*a).status() : a.status();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr("\"example.com\""));
    if (version == TlsVersion::k1_3) {
      EXPECT_THAT(status,
                  StatusIs(absl::StatusCode::kUnauthenticated,
                           AllOf(HasSubstr("requires a client certificate"),
                                 HasSubstr("Certificate()"))));
    }

    auto [c, d] = Handshake(ClientBuilder()
                                .MaxVersion(version)
                                .Certificate(stranger.chain, stranger.key)
                                .Build()
                                .value(),
                            server);
    EXPECT_THAT(d, StatusIs(absl::StatusCode::kUnauthenticated,
                            AllOf(HasSubstr("certificate of the client"),
                                  HasSubstr("CN=Other Root"))));
    const absl::Status refused = c.ok() ? ReadSome(*c).status() : c.status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnauthenticated,
                                  HasSubstr("does not trust")));
  }
}

TEST_F(TlsHandshakeTest, AgreesOnTheVersion) {
  const TlsAcceptor old =
      ServerBuilder().MaxVersion(TlsVersion::k1_2).Build().value();
  auto [a, b] = Connected(Client(), old);
  EXPECT_EQ(a.version(), TlsVersion::k1_2);
  EXPECT_EQ(b.version(), TlsVersion::k1_2);
  Exchange(a, b);

  const TlsConnector only_new =
      ClientBuilder().MinVersion(TlsVersion::k1_3).Build().value();
  auto [c, d] = Handshake(only_new, old);
  EXPECT_THAT(c, StatusIs(absl::StatusCode::kFailedPrecondition,
                          AllOf(HasSubstr("\"example.com\""),
                                HasSubstr("MinVersion()"))));
  EXPECT_THAT(d, StatusIs(absl::StatusCode::kFailedPrecondition,
                          HasSubstr("MinVersion()")));
}

TEST_F(TlsHandshakeTest, AgreesOnAProtocol) {
  const TlsConnector client =
      ClientBuilder().Alpn({"http/1.1", "h2"}).Build().value();
  // The server's order counts.
  const TlsAcceptor server =
      ServerBuilder().Alpn({"h3", "h2", "http/1.1"}).Build().value();
  auto [a, b] = Connected(client, server);
  EXPECT_EQ(a.alpn(), "h2");
  EXPECT_EQ(b.alpn(), "h2");

  // A client or a server without protocols is content with none.
  auto [c, d] = Connected(Client(), server);
  EXPECT_EQ(c.alpn(), "");
  auto [e, f] = Connected(client, Server());
  EXPECT_EQ(e.alpn(), "");
  EXPECT_EQ(f.alpn(), "");
}

TEST_F(TlsHandshakeTest, RefusesAClientWithOtherProtocols) {
  const TlsConnector client = ClientBuilder().Alpn({"imap"}).Build().value();
  const TlsAcceptor server = ServerBuilder().Alpn({"h2"}).Build().value();
  auto [a, b] = Handshake(client, server);
  EXPECT_THAT(a, StatusIs(absl::StatusCode::kFailedPrecondition,
                          AllOf(HasSubstr("\"example.com\" speaks none"),
                                HasSubstr("Alpn()"))));
  EXPECT_THAT(b, StatusIs(absl::StatusCode::kFailedPrecondition,
                          AllOf(HasSubstr("the client offers none"),
                                HasSubstr("Alpn()"))));
}

TEST_F(TlsHandshakeTest, ResumesSessions) {
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    SCOPED_TRACE(absl::StrCat(version));
    const TlsConnector client =
        ClientBuilder().MaxVersion(version).Build().value();
    const TlsAcceptor server = Server();
    for (int i = 0; i < 5; ++i) {
      auto [a, b] = Connected(client, server);
      EXPECT_EQ(a.version(), version);
      EXPECT_EQ(a.resumed(), i > 0);
      EXPECT_EQ(b.resumed(), i > 0);
      // What is known of the peer is known again.
      EXPECT_EQ(a.peer_subject(), "CN=example.com");
      Exchange(a, b);
    }
    // Another host has other sessions.
    auto [a, b] = Handshake(client, server, "x.example.org");
    ASSERT_THAT(a, IsOk());
    EXPECT_FALSE(a->resumed());
    // A server with other keys cannot resume, but does not fail.
    auto [c, d] = Connected(client, Server());
    EXPECT_FALSE(c.resumed());
  }
}

TEST_F(TlsHandshakeTest, ResumesSessionsWithClientCertificates) {
  const TestIdentity alice = authority_.Issue({"alice"});
  const TlsAcceptor server = ServerBuilder()
                                 .AddRoots(authority_.pem())
                                 .RequireClientCertificate()
                                 .Build()
                                 .value();
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    SCOPED_TRACE(absl::StrCat(version));
    const TlsConnector client = ClientBuilder()
                                    .MaxVersion(version)
                                    .Certificate(alice.chain, alice.key)
                                    .Build()
                                    .value();
    for (int i = 0; i < 2; ++i) {
      auto [a, b] = Connected(client, server);
      EXPECT_EQ(b.resumed(), i > 0);
      EXPECT_EQ(b.peer_subject(), "CN=alice");
      Exchange(a, b);
    }
  }
}

TEST_F(TlsHandshakeTest, EitherEndCanDeclineToResume) {
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    for (const bool client_declines : {true, false}) {
      const TlsConnector client = ClientBuilder()
                                      .MaxVersion(version)
                                      .Resumption(!client_declines)
                                      .Build()
                                      .value();
      const TlsAcceptor server =
          ServerBuilder().Resumption(client_declines).Build().value();
      for (int i = 0; i < 2; ++i) {
        auto [a, b] = Connected(client, server);
        EXPECT_FALSE(a.resumed());
        Exchange(a, b);
      }
    }
  }
}

TEST_F(TlsHandshakeTest, WorksOverStreamsThatMoveSingleBytes) {
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    const TlsConnector client =
        ClientBuilder().MaxVersion(version).Build().value();
    auto [a, b] = Duplex(1);
    TestStream a_stream(std::move(a)), b_stream(std::move(b));
    a_stream.faults()->in_turns = true;
    b_stream.faults()->most = 1;
    auto connect = client.Connect("example.com", std::move(a_stream));
    auto accept = Server().Accept(std::move(b_stream));
    auto both = Join(std::move(connect), std::move(accept));
    auto [c, d] = Run(both);
    ASSERT_THAT(c, IsOk());
    ASSERT_THAT(d, IsOk());
  }
}

TEST_F(TlsHandshakeTest, RefusesPeersThatDoNotSpeakTls) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "sent HTTP instead of TLS"},
      {"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "does not speak TLS"},
      {std::string_view("\x16\x03\x01\xff\xff\0\0\0\0\0\0\0\0", 13), ""},
      {std::string_view("\x16\x03\x01\0\x05hello", 10), ""}};
  for (const auto& [bytes, message] : cases) {
    SCOPED_TRACE(bytes);
    auto [a, b] = Duplex(1 << 16);
    auto accept = Server().Accept(TestStream(std::move(b)));
    ASSERT_THAT(Run(WriteAll(a, bytes)), IsOk());
    const Outcome outcome = Run(accept);
    ASSERT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.status().message(), HasSubstr("the client"));
    EXPECT_THAT(outcome.status().message(), HasSubstr(message));
    if (!message.empty()) {
      EXPECT_THAT(outcome, StatusIs(absl::StatusCode::kFailedPrecondition));
    }
  }
  auto [a, b] = Duplex(1 << 16);
  auto connect = Client().Connect("example.com", TestStream(std::move(a)));
  ASSERT_THAT(Run(WriteAll(b, "220 mail.example.com ESMTP\r\n")), IsOk());
  EXPECT_THAT(Run(connect),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("\"example.com\" does not speak TLS")));
}

TEST_F(TlsHandshakeTest, SaysThatThePeerHasEndedTheConnection) {
  auto [a, b] = Duplex(1 << 16);
  auto connect = Client().Connect("example.com", TestStream(std::move(a)));
  EXPECT_TRUE(Poll(connect).IsPending());
  b.ShutdownWrite().IgnoreError();
  EXPECT_THAT(Run(connect),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("\"example.com\" ended the connection"),
                             HasSubstr("handshake"))));
}

TEST_F(TlsHandshakeTest, ReturnsErrorsOfTheStream) {
  auto [a, b] = Duplex(1 << 16);
  TestStream reads(std::move(a));
  reads.faults()->read_error = absl::UnavailableError("reset");
  auto connect = Client().Connect("example.com", std::move(reads));
  EXPECT_THAT(Run(connect),
              StatusIs(absl::StatusCode::kUnavailable,
                       "TLS handshake with \"example.com\": reset"));
  TestStream writes(std::move(b));
  writes.faults()->write_error = absl::FailedPreconditionError("closed");
  auto connect_2 = Client().Connect("example.com", std::move(writes));
  EXPECT_THAT(Run(connect_2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "TLS handshake with \"example.com\": closed"));
}

TEST_F(TlsHandshakeTest, AnErrorAndADestroyedHandshakeCloseTheStream) {
  // A handshake that is destroyed.
  auto [a, b] = Duplex(1 << 16);
  {
    auto connect = Client().Connect("example.com", TestStream(std::move(a)));
    EXPECT_TRUE(Poll(connect).IsPending());
  }
  EXPECT_NE(ReadSome(b).value(), "");  // the first message of the client
  EXPECT_EQ(ReadSome(b).value(), "");

  // A handshake that has failed, but is not destroyed yet.
  auto [c, d] = Duplex(1 << 16);
  auto accept = Server().Accept(TestStream(std::move(c)));
  ASSERT_THAT(Run(WriteAll(d, "hello, world\n")), IsOk());
  EXPECT_FALSE(Run(accept).ok());
  EXPECT_EQ(ReadSome(d).value(), "");
}

TEST_F(TlsHandshakeTest, CanBeDestroyedAfterEachPoll) {
  for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
    const TlsConnector client =
        ClientBuilder().MaxVersion(version).Build().value();
    const TlsAcceptor server = Server();
    bool is_complete = false;
    for (int polls = 0; !is_complete; ++polls) {
      ASSERT_LT(polls, 10000);
      auto [a, b] = Duplex(64);
      std::optional connect(
          client.Connect("example.com", TestStream(std::move(a))));
      std::optional accept(server.Accept(TestStream(std::move(b))));
      bool connected = false, accepted = false;
      for (int i = 0; i < polls && !is_complete; ++i) {
        if (!connected) connected = Poll(*connect).IsReady();
        if (!accepted) accepted = Poll(*accept).IsReady();
        is_complete = connected && accepted;
      }
      if (is_complete) break;
      // The other end finds the end of the stream.
      if (polls % 2 == 0) {
        connect.reset();
        if (!accepted) {
          (void)Run(*accept);
        }
      } else {
        accept.reset();
        if (!connected) {
          (void)Run(*connect);
        }
      }
    }
  }
}

TEST_F(TlsHandshakeTest, CanBeMovedBetweenPolls) {
  auto [a, b] = Duplex(1 << 16);
  auto connect = Client().Connect("example.com", TestStream(std::move(a)));
  auto accept = Server().Accept(TestStream(std::move(b)));
  EXPECT_TRUE(Poll(connect).IsPending());
  EXPECT_TRUE(Poll(accept).IsPending());
  auto moved = std::move(connect);
  auto moved_too = std::move(accept);
  auto both = Join(std::move(moved), std::move(moved_too));
  auto [c, d] = Run(both);
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(d, IsOk());
  Stream client = *std::move(c);
  Exchange(client, *d);
}

TEST_F(TlsHandshakeTest, PollingAFinishedHandshakePanics) {
  auto [a, b] = Duplex(64);
  auto connect = Client().Connect("", TestStream(std::move(a)));
  EXPECT_FALSE(Run(connect).ok());
  EXPECT_PANIC((void)Poll(connect), "TlsHandshake");
}

TEST_F(TlsHandshakeTest, ErrorsOfOneConnectionDoNotReachAnother) {
  // Interleaves a connection that works with handshakes that fail.
  auto [client, server] = Connected();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(ErrorFor(other_.Issue({"example.com"})).ok());
    Exchange(client, server);
    EXPECT_FALSE(TlsConnector::Builder().AddRoots("none").Build().ok());
    Exchange(client, server);
  }
}

}  // namespace
}  // namespace rouse
