// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/standard_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_vectors.h"
#include "rouse/io/fd/quiet_write.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {
namespace {

// Returns whether another open file of the stream reads and writes the same
// bytes. That of the controlling end of a pseudoterminal would be a new
// pseudoterminal.
bool CanBeReopened(int fd, const struct stat& status) {
  if (S_ISFIFO(status.st_mode)) return true;
  unsigned number = 0;
  return isatty(fd) != 0 && ioctl(fd, TIOCGPTN, &number) != 0;
}

// Returns whether open(2) failed with `error` for lack of something that can be
// had again later.
bool IsExhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

// The numbers of the standard streams stay free for standard streams.
constexpr int kFirstOther = 3;

// Opens the pipe or terminal of `fd` again. Returns an invalid descriptor if
// that is impossible (see the comment of the header), and sets `errno`.
OwnedFd Reopen(int fd, int mode, const struct stat& status) {
  const int flags = mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  OwnedFd own(open(absl::StrCat("/proc/self/fd/", fd).c_str(), flags));
  if (own.IsValid() && own.get() < kFirstOther) {
    own = OwnedFd(fcntl(own.get(), F_DUPFD_CLOEXEC, kFirstOther));
  }
  struct stat found;
  if (own.IsValid() &&
      (fstat(own.get(), &found) != 0 || found.st_dev != status.st_dev ||
       found.st_ino != status.st_ino)) {
    own.Reset();
    errno = ENOENT;
  }
  return own;
}

// Waits until `fd` is ready for `events`, at most `timeout` milliseconds; a
// negative timeout is none. Returns false and sets `errno` if `fd` is not
// ready.
bool IsReady(int fd, decltype(pollfd::events) events, int timeout) {
  pollfd entry = {fd, events, 0};
  const int count = poll(&entry, 1, timeout);
  if (count == 0) errno = EAGAIN;
  return count > 0;
}

}  // namespace

absl::StatusOr<StandardFile> StandardFile::Open(int fd, int mode,
                                                std::string_view name) {
  OwnedFd shared(fcntl(fd, F_DUPFD_CLOEXEC, kFirstOther));
  if (!shared.IsValid()) {
    if (errno == EBADF) {
      return absl::FailedPreconditionError(
          absl::StrCat(name,
                       " is not open; start the program with it open, "
                       "for example as /dev/null"));
    }
    return absl::ErrnoToStatus(errno, absl::StrCat("duplicate ", name));
  }
  // An open file of a pipe that is opened again would work in either direction.
  const int access = fcntl(shared.get(), F_GETFL) & O_ACCMODE;
  if (access != mode && access != O_RDWR) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, " is not open for ", mode == O_RDONLY ? "reading" : "writing"));
  }
  struct stat status;
  if (fstat(shared.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("fstat of ", name));
  }
  const Kind kind = S_ISSOCK(status.st_mode)  ? Kind::kSocket
                    : S_ISREG(status.st_mode) ? Kind::kRegular
                                              : Kind::kOther;
  StandardFile file(std::move(shared), kind);
  if (CanBeReopened(file.fd(), status)) {
    file.own_ = Reopen(file.fd(), mode, status);
    if (!file.own_.IsValid() && IsExhaustion(errno)) {
      return absl::ErrnoToStatus(errno, absl::StrCat("open ", name, " again"));
    }
  }
  return file;
}

ssize_t StandardFile::Read(absl::Span<char> buffer) const {
  if (kind_ == Kind::kSocket) {
    return recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  }
  return read(call_fd(), buffer.data(), buffer.size());
}

ssize_t StandardFile::ReadIfReady(absl::Span<char> buffer) const {
  return IsReady(fd(), POLLIN, /*timeout=*/0) ? Read(buffer) : -1;
}

ssize_t StandardFile::Write(absl::Span<const std::string_view> parts) const {
  if (kind_ != Kind::kSocket) return QuietWrite(call_fd(), parts);
  IoVectors vectors(parts);
  msghdr message = {};
  message.msg_iov = vectors.data();
  message.msg_iovlen = static_cast<size_t>(vectors.size());
  return sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int StandardFile::WriteAll(std::string_view data) const {
  while (!data.empty()) {
    const ssize_t size = Write(absl::MakeConstSpan(&data, 1));
    if (size > 0) {
      data.remove_prefix(static_cast<size_t>(size));
    } else if (size == 0) {
      return EIO;  // otherwise the loop might never end
    } else if (errno == EAGAIN) {
      // Another process has set O_NONBLOCK for all processes.
      IsReady(fd(), POLLOUT, /*timeout=*/-1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace rouse::internal
