// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket_addr.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string_view>

#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(SocketAddr, ParsesIPv4) {
  const absl::StatusOr<SocketAddr> addr = SocketAddr::Parse("192.0.2.1:80");
  ASSERT_TRUE(addr.ok()) << addr.status();
  EXPECT_TRUE(addr->IsIPv4());
  EXPECT_EQ(addr->port(), 80);
  EXPECT_EQ(*addr, SocketAddr::IPv4({192, 0, 2, 1}, 80));
}

TEST(SocketAddr, ParsesIPv6) {
  const absl::StatusOr<SocketAddr> addr = SocketAddr::Parse("[::1]:65535");
  ASSERT_TRUE(addr.ok()) << addr.status();
  EXPECT_TRUE(addr->IsIPv6());
  EXPECT_EQ(addr->port(), 65535);
  EXPECT_TRUE(addr->IsLoopback());
}

TEST(SocketAddr, ParsesAScope) {
  const absl::StatusOr<SocketAddr> addr = SocketAddr::Parse("[fe80::1%3]:1");
  ASSERT_TRUE(addr.ok()) << addr.status();
  EXPECT_EQ(reinterpret_cast<const sockaddr_in6*>(addr->data())->sin6_scope_id,
            3u);
}

TEST(SocketAddr, ParsesAScopeByName) {
  EXPECT_EQ(SocketAddr::Parse("[fe80::1%lo]:1").value().scope(),
            if_nametoindex("lo"));
}

TEST(SocketAddr, FormattingReversesParsing) {
  for (const std::string_view text :
       {"127.0.0.1:0", "255.255.255.255:65535", "[::]:80", "[2001:db8::1]:443",
        "[fe80::1%3]:1", "[::ffff:192.0.2.1]:7"}) {
    EXPECT_EQ(SocketAddr::Parse(text).value().ToString(), text);
  }
}

TEST(SocketAddr, RefusesInvalidAddresses) {
  for (const std::string_view text : {"",
                                      ":",
                                      ":80",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:-1",
                                      "127.0.0.1:+1",
                                      "127.0.0.1: 80",
                                      " 127.0.0.1:80",
                                      "127.0.0.1:80 ",
                                      "127.0.1:80",
                                      "127.0.0.256:80",
                                      "127.0.0.1:1x",
                                      "localhost:80",
                                      "::1:80",
                                      "[::1]",
                                      "[::1]80",
                                      "[::1:80",
                                      "::1]:80",
                                      "[]:80",
                                      "[",
                                      "[:80",
                                      "[127.0.0.1]:80",
                                      "[::1%]:80",
                                      "[::1%no-such-one]:80",
                                      "[::1%4294967296]:80",
                                      "[:::1]:80",
                                      "127.0.0.1:99999999999999999999"}) {
    const absl::StatusOr<SocketAddr> addr = SocketAddr::Parse(text);
    EXPECT_EQ(addr.status().code(), absl::StatusCode::kInvalidArgument)
        << '"' << text << '"';
  }
}

TEST(SocketAddr, RefusesAZeroByte) {
  EXPECT_FALSE(SocketAddr::Parse(std::string_view("127.0.0.1\0:80", 13)).ok());
}

TEST(SocketAddr, TheErrorQuotesTheText) {
  EXPECT_NE(SocketAddr::Parse("nonsense").status().message().find("nonsense"),
            std::string_view::npos);
}

TEST(SocketAddr, ConvertsToAndFromASockaddr) {
  for (const std::string_view text : {"192.0.2.1:80", "[fe80::1%3]:1"}) {
    const SocketAddr addr = SocketAddr::Parse(text).value();
    EXPECT_EQ(SocketAddr::FromSockaddr(addr.data(), addr.size()).value(), addr);
  }
}

TEST(SocketAddr, IgnoresThePaddingOfASockaddr) {
  sockaddr_in raw = {};
  raw.sin_family = AF_INET;
  raw.sin_port = htons(80);
  raw.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (unsigned char& byte : raw.sin_zero) byte = 0xff;
  EXPECT_EQ(
      SocketAddr::FromSockaddr(reinterpret_cast<sockaddr*>(&raw), sizeof raw)
          .value(),
      SocketAddr::Localhost(80));
}

TEST(SocketAddr, RefusesOtherSockaddrs) {
  const SocketAddr addr = SocketAddr::Localhost(80);
  EXPECT_FALSE(SocketAddr::FromSockaddr(addr.data(), addr.size() - 1).ok());
  EXPECT_FALSE(SocketAddr::FromSockaddr(addr.data(), 0).ok());
  sockaddr_un path = {};
  path.sun_family = AF_UNIX;
  EXPECT_FALSE(SocketAddr::FromSockaddr(
                   reinterpret_cast<const sockaddr*>(&path), sizeof path)
                   .ok());
}

TEST(SocketAddr, WithPortKeepsTheAddress) {
  EXPECT_EQ(SocketAddr::Parse("[fe80::1%3]:1").value().WithPort(9).ToString(),
            "[fe80::1%3]:9");
}

TEST(SocketAddr, RecognizesLoopbackAddresses) {
  EXPECT_TRUE(SocketAddr::Localhost(1).IsLoopback());
  EXPECT_TRUE(SocketAddr::IPv4({127, 1, 2, 3}, 1).IsLoopback());
  EXPECT_FALSE(SocketAddr::IPv4({128, 0, 0, 1}, 1).IsLoopback());
  EXPECT_FALSE(SocketAddr::Parse("[::2]:1").value().IsLoopback());
}

TEST(SocketAddr, RecognizesTheUnspecifiedAddress) {
  EXPECT_TRUE(SocketAddr().IsUnspecified());
  EXPECT_TRUE(SocketAddr::Parse("[::]:1").value().IsUnspecified());
  EXPECT_FALSE(SocketAddr::Localhost(1).IsUnspecified());
  EXPECT_FALSE(SocketAddr::Parse("[::1]:1").value().IsUnspecified());
}

TEST(SocketAddr, RecognizesMulticastGroups) {
  EXPECT_TRUE(SocketAddr::IPv4({224, 0, 0, 1}, 1).IsMulticast());
  EXPECT_TRUE(SocketAddr::IPv4({239, 255, 0, 1}, 1).IsMulticast());
  EXPECT_FALSE(SocketAddr::IPv4({240, 0, 0, 1}, 1).IsMulticast());
  EXPECT_FALSE(SocketAddr::IPv4({223, 0, 0, 1}, 1).IsMulticast());
  EXPECT_TRUE(SocketAddr::Parse("[ff02::1]:1").value().IsMulticast());
  EXPECT_FALSE(SocketAddr::Parse("[fe80::1]:1").value().IsMulticast());
}

TEST(SocketAddr, HasTheScope) {
  EXPECT_EQ(SocketAddr::Parse("[fe80::1%3]:1").value().scope(), 3u);
  EXPECT_EQ(SocketAddr::Parse("[fe80::1]:1").value().scope(), 0u);
  EXPECT_EQ(SocketAddr::Localhost(1).scope(), 0u);
}

TEST(SocketAddr, IsUnspecifiedByDefault) {
  EXPECT_EQ(SocketAddr().ToString(), "0.0.0.0:0");
}

TEST(SocketAddr, IsPrinted) {
  EXPECT_EQ(absl::StrCat("at ", SocketAddr::Localhost(80)), "at 127.0.0.1:80");
}

TEST(SocketAddr, HashesConsistentlyWithEquality) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {SocketAddr(), SocketAddr::Localhost(1), SocketAddr::Localhost(2),
       SocketAddr::IPv6({}, 1), SocketAddr::IPv6({}, 1, 5)}));
}

}  // namespace
}  // namespace rouse
