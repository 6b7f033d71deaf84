// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs {
namespace {

using internal::CheckPath;
using internal::PathError;

// Returns an operation that makes a system call with a path. `call` returns -1
// and sets errno if it fails.
template <class Call>
Operation<void> PathCall(const char* name, std::string path, Call call) {
  return Operation<void>([name, path = std::move(path), call]() {
    if (absl::Status status = CheckPath(path); !status.ok()) return status;
    if (call(path.c_str()) == 0) return absl::OkStatus();
    return PathError(errno, name, path);
  });
}

// Like `PathCall()`, with two paths.
template <class Call>
Operation<void> PathsCall(const char* name, std::string from, std::string to,
                          Call call) {
  return Operation<void>(
      [name, from = std::move(from), to = std::move(to), call]() {
        for (const std::string& path : {from, to}) {
          if (absl::Status status = CheckPath(path); !status.ok())
            return status;
        }
        if (call(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
        return absl::ErrnoToStatus(
            errno, absl::StrCat(name, " from '", from, "' to '", to, "'"));
      });
}

template <class Call>
Operation<Metadata> StatCall(const char* name, std::string path, Call call) {
  return Operation<Metadata>(
      [name, path = std::move(path), call]() -> absl::StatusOr<Metadata> {
        if (absl::Status status = CheckPath(path); !status.ok()) return status;
        struct stat raw;
        if (call(path.c_str(), &raw) == 0) return Metadata(raw);
        return PathError(errno, name, path);
      });
}

absl::Status MakeDirs(const std::string& path, mode_t mode) {
  if (absl::Status status = CheckPath(path); !status.ok()) return status;
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const bool is_last = end == std::string::npos;
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), mode) != 0) {
      const int error = errno;
      struct stat raw;
      // Above the last directory, the system refuses what it cannot make with
      // other errors than EEXIST, such as EROFS.
      if (stat(part.c_str(), &raw) != 0) return PathError(error, "mkdir", part);
      if (!S_ISDIR(raw.st_mode)) return PathError(ENOTDIR, "mkdir", part);
    }
    if (is_last) return absl::OkStatus();
  }
}

// Copies all bytes from `in` to `out`. Returns their number.
absl::StatusOr<uint64_t> CopyBytes(int in, const std::string& from, int out,
                                   const std::string& to) {
  constexpr size_t kStep = size_t{1} << 30;
  constexpr size_t kBuffer = size_t{128} << 10;
  uint64_t copied = 0;
  for (;;) {
    const ssize_t size = copy_file_range(in, nullptr, out, nullptr, kStep, 0);
    if (size > 0) {
      copied += static_cast<uint64_t>(size);
    } else if (size == 0 && copied > 0) {
      return copied;
    } else if (size == 0 || errno != EINTR) {
      break;
    }
  }
  // Files of /proc have no size, and some file systems cannot copy.
  const auto buffer = std::make_unique<char[]>(kBuffer);
  for (;;) {
    const ssize_t size = read(in, buffer.get(), kBuffer);
    if (size == 0) return copied;
    if (size < 0) {
      if (errno == EINTR) continue;
      return PathError(errno, "read", from);
    }
    const std::string_view data(buffer.get(), static_cast<size_t>(size));
    if (absl::Status status = internal::WriteFd(out, to, data); !status.ok()) {
      return status;
    }
    copied += data.size();
  }
}

absl::StatusOr<uint64_t> Copy(const std::string& from, const std::string& to) {
  absl::StatusOr<OwnedFd> in = internal::OpenFd(from, O_RDONLY, 0);
  if (!in.ok()) return std::move(in).status();
  struct stat raw;
  if (fstat(in->get(), &raw) != 0) return PathError(errno, "fstat", from);
  if (!S_ISREG(raw.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("fs::CopyFile: '", from, "' is no regular file"));
  }
  const mode_t permissions = raw.st_mode & 07777;
  absl::StatusOr<OwnedFd> out =
      internal::OpenFd(to, O_WRONLY | O_CREAT, permissions);
  if (!out.ok()) return std::move(out).status();
  struct stat target;
  if (fstat(out->get(), &target) != 0) return PathError(errno, "fstat", to);
  if (target.st_dev == raw.st_dev && target.st_ino == raw.st_ino) {
    return absl::InvalidArgumentError(
        absl::StrCat("fs::CopyFile: '", from, "' and '", to, "' are one file"));
  }
  if (S_ISREG(target.st_mode)) {
    // First, because it fails if the file belongs to somebody else.
    if (fchmod(out->get(), permissions) != 0) {
      return PathError(errno, "fchmod", to);
    }
    if (ftruncate(out->get(), 0) != 0) return PathError(errno, "ftruncate", to);
  }
  absl::StatusOr<uint64_t> copied = CopyBytes(in->get(), from, out->get(), to);
  if (!copied.ok()) return copied;
  // Writing has removed these bits.
  if (S_ISREG(target.st_mode) && (permissions & 07000) != 0 &&
      fchmod(out->get(), permissions) != 0) {
    return PathError(errno, "fchmod", to);
  }
  if (absl::Status status = internal::CloseFd(*std::move(out), to);
      !status.ok()) {
    return status;
  }
  return copied;
}

}  // namespace

Operation<Metadata> GetMetadata(std::string path) {
  return StatCall("stat", std::move(path),
                  [](const char* p, struct stat* raw) { return stat(p, raw); });
}

Operation<Metadata> GetSymlinkMetadata(std::string path) {
  return StatCall(
      "lstat", std::move(path),
      [](const char* p, struct stat* raw) { return lstat(p, raw); });
}

Operation<bool> Exists(std::string path) {
  return Operation<bool>([path = std::move(path)]() -> absl::StatusOr<bool> {
    if (absl::Status status = CheckPath(path); !status.ok()) return status;
    if (access(path.c_str(), F_OK) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return PathError(errno, "access", path);
  });
}

Operation<void> SetPermissions(std::string path, mode_t permissions) {
  return PathCall("chmod", std::move(path), [permissions](const char* p) {
    return chmod(p, permissions);
  });
}

Operation<void> CreateDir(std::string path, mode_t mode) {
  return PathCall("mkdir", std::move(path),
                  [mode](const char* p) { return mkdir(p, mode); });
}

Operation<void> CreateDirs(std::string path, mode_t mode) {
  return Operation<void>(
      [path = std::move(path), mode] { return MakeDirs(path, mode); });
}

Operation<void> RemoveFile(std::string path) {
  return PathCall("unlink", std::move(path),
                  [](const char* p) { return unlink(p); });
}

Operation<void> RemoveDir(std::string path) {
  return PathCall("rmdir", std::move(path),
                  [](const char* p) { return rmdir(p); });
}

Operation<uint64_t> RemoveAll(std::string path) {
  // With a slash, a symbolic link would be followed.
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return Operation<uint64_t>(
      [path = std::move(path)]() -> absl::StatusOr<uint64_t> {
        if (absl::Status status = CheckPath(path); !status.ok()) return status;
        std::error_code error;
        const std::uintmax_t removed = std::filesystem::remove_all(path, error);
        if (!error) return uint64_t{removed};
        return PathError(error.value(), "remove_all", path);
      });
}

Operation<void> Rename(std::string from, std::string to) {
  return PathsCall("rename", std::move(from), std::move(to),
                   [](const char* a, const char* b) { return rename(a, b); });
}

Operation<void> HardLink(std::string target, std::string link_path) {
  return PathsCall("link", std::move(target), std::move(link_path),
                   [](const char* a, const char* b) { return link(a, b); });
}

Operation<void> Symlink(std::string target, std::string link_path) {
  return PathsCall("symlink", std::move(target), std::move(link_path),
                   [](const char* a, const char* b) { return symlink(a, b); });
}

Operation<std::string> ReadLink(std::string path) {
  return Operation<std::string>(
      [path = std::move(path)]() -> absl::StatusOr<std::string> {
        if (absl::Status status = CheckPath(path); !status.ok()) return status;
        std::string target(128, '\0');
        for (;;) {
          const ssize_t size =
              readlink(path.c_str(), target.data(), target.size());
          if (size < 0) return PathError(errno, "readlink", path);
          // A full buffer may have only a part.
          if (static_cast<size_t>(size) < target.size()) {
            target.resize(static_cast<size_t>(size));
            return target;
          }
          target.resize(target.size() * 2);
        }
      });
}

Operation<std::string> Canonicalize(std::string path) {
  return Operation<std::string>(
      [path = std::move(path)]() -> absl::StatusOr<std::string> {
        if (absl::Status status = CheckPath(path); !status.ok()) return status;
        const std::unique_ptr<char, decltype(&free)> real(
            realpath(path.c_str(), nullptr), &free);
        if (real == nullptr) return PathError(errno, "realpath", path);
        return std::string(real.get());
      });
}

Operation<uint64_t> CopyFile(std::string from, std::string to) {
  return Operation<uint64_t>(
      [from = std::move(from), to = std::move(to)] { return Copy(from, to); });
}

}  // namespace rouse::fs
