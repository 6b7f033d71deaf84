// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: owned_fd.h
// -----------------------------------------------------------------------------
//
// `OwnedFd` closes a file descriptor at the end of its scope. A parameter of
// type `OwnedFd` means that the callee takes the descriptor over, and closes it
// even if the callee fails:
//
//   OwnedFd fd(socket(AF_INET, SOCK_STREAM, 0));
//   absl::StatusOr<TcpStream> stream = TcpStream::FromFd(std::move(fd));

#ifndef ROUSE_REACTOR_OWNED_FD_H_
#define ROUSE_REACTOR_OWNED_FD_H_

#include "rouse/base/cxx20.h"

#include <utility>

namespace rouse {

// OwnedFd
//
// Owns at most one descriptor. Move-only; a moved-from object is empty. Not
// thread-safe.
class OwnedFd {
 public:
  OwnedFd() = default;

  // Takes over `fd`. A negative number makes an empty object.
  explicit OwnedFd(int fd) : fd_(fd) {}

  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~OwnedFd() { Reset(); }

  // Returns whether this object owns a descriptor.
  bool IsValid() const { return fd_ >= 0; }

  // Returns the descriptor, which this object continues to own, or -1 if empty.
  int get() const { return fd_; }

  // Like `get()`, under the name that all owners of a descriptor share: see
  // `reactor::HasFd`.
  int fd() const { return fd_; }

  // Transfers ownership of the descriptor to the caller.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }

  // Closes the descriptor and takes over `fd`. An error of close(2) is ignored,
  // because on Linux the descriptor is closed even then.
  void Reset(int fd = -1) {
    if (const int old = std::exchange(fd_, fd); old >= 0) Close(old);
  }

 private:
  static void Close(int fd);

  int fd_ = -1;
};

}  // namespace rouse

#endif  // ROUSE_REACTOR_OWNED_FD_H_
