// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: vsock_addr.h
// -----------------------------------------------------------------------------
//
// A `VsockAddr` is the address of a socket between a virtual machine and its
// host: a context identifier (CID), which names the machine, and a port.
//
//   VsockAddr host(VsockAddr::kHost, 1024);
//   absl::StatusOr<VsockAddr> addr = VsockAddr::Parse("vsock:3:1024");

#ifndef ROUSE_NET_VSOCK_VSOCK_ADDR_H_
#define ROUSE_NET_VSOCK_VSOCK_ADDR_H_

#include "rouse/base/cxx20.h"

#include <sys/socket.h>

// After <sys/socket.h>, which it needs.
#include <linux/vm_sockets.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"

namespace rouse {

// VsockAddr
//
// A value: copyable, comparable, hashable, printable.
class VsockAddr {
 public:
  // The CIDs with a meaning of their own.
  static constexpr uint32_t kAnyCid = 0xffffffff;  // to bind: each CID of ours
  static constexpr uint32_t kLocal = 1;            // this machine
  static constexpr uint32_t kHost = 2;             // the host of this machine

  // Lets the system choose a port.
  static constexpr uint32_t kAnyPort = 0xffffffff;

  // Makes the address of any CID and any port.
  VsockAddr() : VsockAddr(kAnyCid, kAnyPort) {}

  // Makes an address. Both numbers are in the byte order of the host.
  VsockAddr(uint32_t cid, uint32_t port);

  // Parses "vsock:3:1024", or "vsock::1024" for any CID. The numbers are
  // decimal. Returns InvalidArgument for any other text.
  static absl::StatusOr<VsockAddr> Parse(std::string_view text);

  // Converts an address that a system call has filled in. Returns
  // InvalidArgument if the address is of another family.
  static absl::StatusOr<VsockAddr> FromSockaddr(const sockaddr* addr,
                                                socklen_t size);

  // Returns the address in the form that system calls take. The pointer is
  // valid as long as this object.
  const sockaddr* data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  socklen_t size() const { return sizeof storage_; }

  // Returns AF_VSOCK.
  int family() const { return storage_.svm_family; }

  // Return the CID and the port, in the byte order of the host.
  uint32_t cid() const { return storage_.svm_cid; }
  uint32_t port() const { return storage_.svm_port; }

  // Returns the address in the form that `Parse()` reads, with both numbers.
  std::string ToString() const;

  friend bool operator==(const VsockAddr& a, const VsockAddr& b) {
    return a.cid() == b.cid() && a.port() == b.port();
  }

  template <class H>
  friend H AbslHashValue(H state, const VsockAddr& addr) {
    return H::combine(std::move(state), addr.cid(), addr.port());
  }

  template <class Sink>
  friend void AbslStringify(Sink& sink, const VsockAddr& addr) {
    sink.Append(addr.ToString());
  }

 private:
  sockaddr_vm storage_ = {};
};

// Returns the CID of this machine, as its host and its guests see it. Returns
// NotFound if the machine has no vsock, and PermissionDenied if the program may
// not open /dev/vsock.
absl::StatusOr<uint32_t> LocalVsockCid();

}  // namespace rouse

#endif  // ROUSE_NET_VSOCK_VSOCK_ADDR_H_
