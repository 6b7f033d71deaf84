// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/vsock/vsock_addr.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {
namespace {

// Like `absl::SimpleAtoi()`, but takes only digits.
bool ParseNumber(std::string_view text, uint32_t& number) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(c); }) &&
         absl::SimpleAtoi(text, &number);
}

}  // namespace

VsockAddr::VsockAddr(uint32_t cid, uint32_t port) {
  storage_.svm_family = AF_VSOCK;
  storage_.svm_cid = cid;
  storage_.svm_port = port;
}

absl::StatusOr<VsockAddr> VsockAddr::Parse(std::string_view text) {
  std::string_view rest = text;
  uint32_t cid = kAnyCid;
  uint32_t port = 0;
  if (absl::ConsumePrefix(&rest, "vsock:")) {
    const size_t colon = rest.find(':');
    if (colon != std::string_view::npos &&
        (colon == 0 || ParseNumber(rest.substr(0, colon), cid)) &&
        ParseNumber(rest.substr(colon + 1), port)) {
      return VsockAddr(cid, port);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not an address of a vsock: \"", absl::CEscape(text),
                   "\"; write \"vsock:CID:PORT\", such as \"vsock:2:1024\""));
}

absl::StatusOr<VsockAddr> VsockAddr::FromSockaddr(const sockaddr* addr,
                                                  socklen_t size) {
  VsockAddr result;
  if (size < sizeof result.storage_ || addr->sa_family != AF_VSOCK) {
    return absl::InvalidArgumentError(
        "the sockaddr is not an address of a vsock");
  }
  std::memcpy(&result.storage_, addr, sizeof result.storage_);
  return result;
}

std::string VsockAddr::ToString() const {
  return absl::StrCat("vsock:", cid(), ":", port());
}

absl::StatusOr<uint32_t> LocalVsockCid() {
  const OwnedFd device(open("/dev/vsock", O_RDONLY | O_CLOEXEC));
  if (!device.IsValid()) return absl::ErrnoToStatus(errno, "open /dev/vsock");
  unsigned cid = 0;
  if (ioctl(device.get(), IOCTL_VM_SOCKETS_GET_LOCAL_CID, &cid) != 0) {
    return absl::ErrnoToStatus(errno, "ask /dev/vsock for the local CID");
  }
  return cid;
}

}  // namespace rouse
