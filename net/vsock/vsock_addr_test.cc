// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/vsock/vsock_addr.h"

#include <sys/socket.h>

#include <cstdint>

#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(VsockAddrTest, HasACidAndAPort) {
  const VsockAddr addr(3, 1024);
  EXPECT_EQ(addr.cid(), 3u);
  EXPECT_EQ(addr.port(), 1024u);
  EXPECT_EQ(addr.family(), AF_VSOCK);
  EXPECT_EQ(addr.data()->sa_family, AF_VSOCK);
  EXPECT_EQ(VsockAddr().cid(), VsockAddr::kAnyCid);
  EXPECT_EQ(VsockAddr().port(), VsockAddr::kAnyPort);
}

TEST(VsockAddrTest, TheConstantsAreTheSystems) {
  EXPECT_EQ(VsockAddr::kAnyCid, VMADDR_CID_ANY);
  EXPECT_EQ(VsockAddr::kHost, static_cast<uint32_t>(VMADDR_CID_HOST));
  EXPECT_EQ(VsockAddr::kAnyPort, VMADDR_PORT_ANY);
}

TEST(VsockAddrTest, IsPrintedAsItIsParsed) {
  for (const VsockAddr& addr :
       {VsockAddr(3, 1024), VsockAddr(VsockAddr::kAnyCid, 0), VsockAddr()}) {
    EXPECT_EQ(VsockAddr::Parse(addr.ToString()).value(), addr);
    EXPECT_EQ(absl::StrCat(addr), addr.ToString());
  }
  EXPECT_EQ(absl::StrCat(VsockAddr(3, 1024)), "vsock:3:1024");
  EXPECT_EQ(VsockAddr::Parse("vsock::1024").value(),
            VsockAddr(VsockAddr::kAnyCid, 1024));
}

TEST(VsockAddrTest, AnyOtherTextIsInvalidArgument) {
  for (const char* text :
       {"", "vsock", "vsock:", "vsock:3", "vsock:3:", "vsock:3:x", "3:1024",
        "vsock:-1:1024", "vsock: 3:1024", "vsock:3:4294967296",
        "vsock:3:1024:5"}) {
    const absl::Status status = VsockAddr::Parse(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(),
                ::testing::HasSubstr(absl::StrCat("\"", text, "\"")));
  }
}

TEST(VsockAddrTest, IsConvertedFromTheSystemsForm) {
  const VsockAddr addr(3, 1024);
  EXPECT_EQ(VsockAddr::FromSockaddr(addr.data(), addr.size()).value(), addr);
  EXPECT_EQ(
      VsockAddr::FromSockaddr(addr.data(), addr.size() - 1).status().code(),
      absl::StatusCode::kInvalidArgument);
  sockaddr_storage other = {};
  other.ss_family = AF_INET;
  EXPECT_EQ(VsockAddr::FromSockaddr(reinterpret_cast<const sockaddr*>(&other),
                                    sizeof other)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(VsockAddrTest, IsHashable) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {VsockAddr(), VsockAddr(3, 1024), VsockAddr(3, 1025),
       VsockAddr(4, 1024)}));
}

TEST(VsockAddrTest, TheMachineHasACid) {
  const absl::StatusOr<uint32_t> cid = LocalVsockCid();
  if (!cid.ok()) {
    EXPECT_THAT(cid.status().message(), ::testing::HasSubstr("/dev/vsock"));
    GTEST_SKIP() << "this machine has no vsock: " << cid.status();
  }
  EXPECT_GE(*cid, 1u);
}

}  // namespace
}  // namespace rouse
