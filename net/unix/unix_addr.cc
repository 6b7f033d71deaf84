// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_addr.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rouse {
namespace {

constexpr size_t kNameOffset = offsetof(sockaddr_un, sun_path);

}  // namespace

UnixAddr UnixAddr::FromName(std::string_view name, size_t size) {
  Storage storage;
  std::memcpy(storage.un.sun_path, name.data(), name.size());
  return UnixAddr(storage, kNameOffset + size);
}

absl::StatusOr<UnixAddr> UnixAddr::FromPath(std::string_view path) {
  if (path.empty() || path.size() > kMaxSize ||
      path.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not a path for a Unix socket: \"", absl::CEscape(path),
        "\"; a path has 1 to ", kMaxSize, " bytes, none of them zero"));
  }
  // The size includes the terminating zero.
  return FromName(path, path.size() + 1);
}

absl::StatusOr<UnixAddr> UnixAddr::FromAbstractName(std::string_view name) {
  if (name.size() > kMaxSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not an abstract name for a Unix socket: \"", absl::CEscape(name),
        "\"; a name has at most ", kMaxSize, " bytes"));
  }
  const std::string marked = absl::StrCat(std::string_view("\0", 1), name);
  return FromName(marked, marked.size());
}

absl::StatusOr<UnixAddr> UnixAddr::Parse(std::string_view text) {
  if (!text.empty() && text.front() == '@') {
    return FromAbstractName(text.substr(1));
  }
  return FromPath(text);
}

absl::StatusOr<UnixAddr> UnixAddr::FromSockaddr(const sockaddr* addr,
                                                socklen_t size) {
  // For some unnamed peers the system returns no address at all.
  if (size == 0) return UnixAddr();
  if (size < kNameOffset || addr->sa_family != AF_UNIX) {
    return absl::InvalidArgumentError("the sockaddr is not a Unix address");
  }
  Storage storage;
  const size_t copied = std::min<size_t>(size, sizeof storage.un);
  std::memcpy(&storage.un, addr, copied);
  return UnixAddr(storage, copied);
}

std::string_view UnixAddr::name() const {
  const std::string_view name(storage_.un.sun_path, size_ - kNameOffset);
  if (name.empty() || name.front() == '\0') return name;
  return name.substr(0, name.find('\0'));
}

std::optional<std::string_view> UnixAddr::path() const {
  const std::string_view name = this->name();
  if (name.empty() || name.front() == '\0') return std::nullopt;
  return name;
}

std::optional<std::string_view> UnixAddr::abstract_name() const {
  const std::string_view name = this->name();
  if (name.empty() || name.front() != '\0') return std::nullopt;
  return name.substr(1);
}

std::string UnixAddr::ToString() const {
  if (IsUnnamed()) return "(unnamed)";
  if (const std::optional<std::string_view> path = this->path()) {
    // The prefix prevents the path from being parsed as an abstract name.
    return absl::StrCat(path->front() == '@' ? "./" : "", *path);
  }
  return absl::StrCat("@", absl::CEscape(*abstract_name()));
}

}  // namespace rouse
