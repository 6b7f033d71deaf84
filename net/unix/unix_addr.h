// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_addr.h
// -----------------------------------------------------------------------------
//
// A `UnixAddr` is the address of a Unix socket: a path in the file system, or a
// name in the abstract namespace of Linux, which needs no cleanup.
//
//   absl::StatusOr<UnixAddr> addr = UnixAddr::FromPath("/run/app.sock");
//   absl::StatusOr<UnixAddr> addr = UnixAddr::FromAbstractName("app");

#ifndef ROUSE_NET_UNIX_UNIX_ADDR_H_
#define ROUSE_NET_UNIX_UNIX_ADDR_H_

#include "rouse/base/cxx20.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"

namespace rouse {

// UnixAddr
//
// A value: copyable, comparable, hashable, printable. About 112 bytes.
class UnixAddr {
 public:
  // Maximum length of a path or of an abstract name.
  static constexpr size_t kMaxSize = sizeof(sockaddr_un::sun_path) - 1;

  // Makes an unnamed address: the address of a socket that was never bound,
  // such as a client's.
  UnixAddr() : UnixAddr(Storage(), offsetof(sockaddr_un, sun_path)) {}

  // Makes the address of a path. Returns InvalidArgument if `path` is empty,
  // longer than `kMaxSize`, or contains a zero byte.
  static absl::StatusOr<UnixAddr> FromPath(std::string_view path);

  // Makes an abstract address. `name` can contain any bytes. Returns
  // InvalidArgument if `name` is longer than `kMaxSize`.
  static absl::StatusOr<UnixAddr> FromAbstractName(std::string_view name);

  // Parses "@name" as an abstract name, and any other text as a path. Write a
  // path that begins with "@" as "./@...".
  static absl::StatusOr<UnixAddr> Parse(std::string_view text);

  // Converts an address that a system call has filled in. Returns
  // InvalidArgument if the address is of another family.
  static absl::StatusOr<UnixAddr> FromSockaddr(const sockaddr* addr,
                                               socklen_t size);

  // Returns the address in the form that system calls take. The pointer is
  // valid as long as this object.
  const sockaddr* data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  socklen_t size() const { return size_; }

  // Returns AF_UNIX.
  int family() const { return storage_.un.sun_family; }

  // Returns whether the address has neither a path nor an abstract name, such
  // as the address of a socket that was not bound.
  bool IsUnnamed() const { return name().empty(); }

  // Return the path or the abstract name, or `std::nullopt` if the address is
  // of another kind.
  std::optional<std::string_view> path() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  std::optional<std::string_view> abstract_name() const
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the address in the form that `Parse()` reads, except that
  // unprintable bytes of an abstract name are escaped as in C. Returns
  // "(unnamed)" if the address has no name.
  std::string ToString() const;

  friend bool operator==(const UnixAddr& a, const UnixAddr& b) {
    return a.name() == b.name();
  }

  template <class H>
  friend H AbslHashValue(H state, const UnixAddr& addr) {
    return H::combine(std::move(state), addr.name());
  }

  template <class Sink>
  friend void AbslStringify(Sink& sink, const UnixAddr& addr) {
    sink.Append(addr.ToString());
  }

 private:
  // Unused bytes are zero.
  struct Storage {
    Storage() {
      std::memset(&un, 0, sizeof un);
      un.sun_family = AF_UNIX;
    }
    sockaddr_un un;
  };

  UnixAddr(const Storage& storage, size_t size)
      : storage_(storage), size_(static_cast<socklen_t>(size)) {}

  // Makes an address from `name` in the kernel's form: a path without the
  // terminating zero, or a zero byte followed by an abstract name.
  static UnixAddr FromName(std::string_view name, size_t size);
  std::string_view name() const;

  Storage storage_;
  socklen_t size_;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_ADDR_H_
