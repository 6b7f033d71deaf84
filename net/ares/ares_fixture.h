// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ares_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests of `AresResolver`: answers of a name server, and
// a fixture with a runtime.

#ifndef ROUSE_NET_ARES_ARES_FIXTURE_H_
#define ROUSE_NET_ARES_ARES_FIXTURE_H_

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/internal/dns_server.h"

namespace rouse {

// Codes of answers.
inline constexpr int kServerFailure = 2;
inline constexpr int kNameError = 3;
inline constexpr int kRefused = 5;

inline SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

inline DnsAnswer Both() {
  return DnsAnswer({Addr("192.0.2.1:0"), Addr("[2001:db8::1]:0")});
}

// Answers each question with both addresses.
inline DnsAnswer AnswerBoth(const DnsQuestion&) { return Both(); }

inline DnsAnswer NeverAnswer(const DnsQuestion&) {
  return DnsAnswer::Silence();
}

// Makes an answer that is too long for UDP, whatever the question.
inline DnsAnswer Long() {
  std::vector<SocketAddr> addrs(100, Addr("192.0.2.1:0"));
  addrs.insert(addrs.end(), 100, Addr("[2001:db8::1]:0"));
  return DnsAnswer(std::move(addrs));
}

// Returns options that depend on nothing of this machine, and whose timeout
// does not pass while a test runs.
inline AresOptions Options(std::vector<SocketAddr> servers) {
  AresOptions options;
  options.servers = std::move(servers);
  options.search.emplace();
  options.use_hosts_file = false;
  options.timeout = absl::Hours(1);
  return options;
}

// Returns options for a test with more queries at once than the socket of a
// `DnsServer` has room for: lost queries are soon repeated.
inline AresOptions OptionsForMany(const SocketAddr& server) {
  AresOptions options = Options({server});
  options.timeout = absl::Milliseconds(250);
  options.attempts = 10;
  return options;
}

// Returns an address of this machine at which no socket receives.
inline SocketAddr ClosedPort() {
  std::optional<DnsServer> server(std::in_place, AnswerBoth);
  return server->addr();
}

// A fixture with a runtime of one thread.
class AresResolverTest : public ::testing::Test {
 protected:
  Resolver::Result Lookup(const Resolver& resolver, std::string_view host) {
    return runtime_.BlockOn(resolver.Lookup(host, 80));
  }
  Resolver::Result Lookup(const DnsServer& server, std::string_view host) {
    return Lookup(AresResolver(Options({server.addr()})), host);
  }

  Runtime runtime_ = Builder::CurrentThread().Build().value();
};

}  // namespace rouse

#endif  // ROUSE_NET_ARES_ARES_FIXTURE_H_
