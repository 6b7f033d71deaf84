// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_addr.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(UnixAddrTest, APathNamesAFile) {
  const UnixAddr addr = UnixAddr::FromPath("/run/app.sock").value();
  EXPECT_EQ(addr.path(), "/run/app.sock");
  EXPECT_EQ(addr.abstract_name(), std::nullopt);
  EXPECT_FALSE(addr.IsUnnamed());
  EXPECT_EQ(addr.ToString(), "/run/app.sock");
  EXPECT_EQ(addr.family(), AF_UNIX);
  // The system expects the size with the terminating zero.
  EXPECT_EQ(addr.size(), offsetof(sockaddr_un, sun_path) + 14);
  EXPECT_STREQ(reinterpret_cast<const sockaddr_un*>(addr.data())->sun_path,
               "/run/app.sock");
}

TEST(UnixAddrTest, AnAbstractNameCanHoldAnyBytes) {
  const std::string_view name("a\0\xff", 3);
  const UnixAddr addr = UnixAddr::FromAbstractName(name).value();
  EXPECT_EQ(addr.abstract_name(), name);
  EXPECT_EQ(addr.path(), std::nullopt);
  EXPECT_FALSE(addr.IsUnnamed());
  EXPECT_EQ(addr.ToString(), "@a\\000\\377");
  EXPECT_EQ(addr.size(), offsetof(sockaddr_un, sun_path) + 4);
  EXPECT_EQ(UnixAddr::FromAbstractName("").value().abstract_name(), "");
}

TEST(UnixAddrTest, AnUnnamedAddressHasNoPathAndNoName) {
  const UnixAddr addr;
  EXPECT_TRUE(addr.IsUnnamed());
  EXPECT_EQ(addr.path(), std::nullopt);
  EXPECT_EQ(addr.abstract_name(), std::nullopt);
  EXPECT_EQ(addr.ToString(), "(unnamed)");
}

TEST(UnixAddrTest, ParsesPathsAndAbstractNames) {
  EXPECT_EQ(UnixAddr::Parse("@app").value(),
            UnixAddr::FromAbstractName("app").value());
  EXPECT_EQ(UnixAddr::Parse("app").value(), UnixAddr::FromPath("app").value());
  EXPECT_EQ(UnixAddr::Parse("./@app").value().path(), "./@app");
  EXPECT_EQ(UnixAddr::Parse("").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(UnixAddrTest, TooLongOrEmptyNamesAreInvalidArgument) {
  const std::string longest(UnixAddr::kMaxSize, 'x');
  const std::string longer(UnixAddr::kMaxSize + 1, 'x');
  EXPECT_EQ(UnixAddr::FromPath(longest).value().path(), longest);
  EXPECT_EQ(UnixAddr::FromAbstractName(longest).value().abstract_name(),
            longest);
  for (const auto& addr :
       {UnixAddr::FromPath(longer), UnixAddr::FromAbstractName(longer),
        UnixAddr::FromPath(""),
        UnixAddr::FromPath(std::string_view("a\0b", 3))}) {
    EXPECT_EQ(addr.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(UnixAddrTest, SurvivesASystemCall) {
  for (const UnixAddr& addr :
       {UnixAddr(), UnixAddr::FromPath("/a/b").value(),
        UnixAddr::FromAbstractName("a").value(),
        UnixAddr::FromPath(std::string(UnixAddr::kMaxSize, 'x')).value()}) {
    EXPECT_EQ(UnixAddr::FromSockaddr(addr.data(), addr.size()).value(), addr);
  }
  // Bytes after the path are not part of the name, and the terminating zero may
  // be missing.
  sockaddr_un raw;
  std::memset(&raw, 'x', sizeof raw);
  raw.sun_family = AF_UNIX;
  std::memcpy(raw.sun_path, "ab\0", 3);
  const auto* data = reinterpret_cast<const sockaddr*>(&raw);
  EXPECT_EQ(UnixAddr::FromSockaddr(data, sizeof raw).value().path(), "ab");
  EXPECT_EQ(UnixAddr::FromSockaddr(data, offsetof(sockaddr_un, sun_path) + 2)
                .value()
                .path(),
            "ab");
  EXPECT_TRUE(UnixAddr::FromSockaddr(data, 0).value().IsUnnamed());
}

TEST(UnixAddrTest, OtherFamiliesAreInvalidArgument) {
  sockaddr_un raw = {};
  raw.sun_family = AF_INET;
  EXPECT_EQ(UnixAddr::FromSockaddr(reinterpret_cast<const sockaddr*>(&raw),
                                   sizeof raw)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(UnixAddrTest, ComparesAndHashesByName) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {UnixAddr(), UnixAddr::FromPath("a").value(),
       UnixAddr::FromPath("b").value(), UnixAddr::FromPath("a").value(),
       UnixAddr::FromAbstractName("a").value()}));
  EXPECT_FALSE(UnixAddr::FromPath("a").value() ==
               UnixAddr::FromAbstractName("a").value());
}

TEST(UnixAddrTest, Prints) {
  EXPECT_EQ(absl::StrCat(UnixAddr::FromAbstractName("a").value()), "@a");
  EXPECT_EQ(absl::StrCat(UnixAddr::FromPath("@a").value()), "./@a");
}

}  // namespace
}  // namespace rouse
