// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/ares/ares_channels.h"

#include <ares.h>
#include <sys/stat.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/socket_addr.h"

namespace rouse::internal {
namespace {

// The timeout of c-ares itself, in milliseconds: a day, so that it never comes,
// and that c-ares can double it without an overflow.
constexpr int kNever = 24 * 60 * 60 * 1000;

// The port of name servers.
constexpr uint16_t kDnsPort = 53;

constexpr char kNsswitchConf[] = "/etc/nsswitch.conf";

std::string ServersOf(const AresOptions& options) {
  return absl::StrJoin(
      options.servers, ",", [](std::string* out, const SocketAddr& server) {
        absl::StrAppend(
            out, server.port() == 0 ? server.WithPort(kDnsPort) : server);
      });
}

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

AresChannel::FileStamp AresChannel::StampOf(const char* path) {
  FileStamp stamp;
  struct stat raw;
  // A file that is not there has a stamp of its own.
  if (stat(path, &raw) != 0) return stamp;
  stamp.device = raw.st_dev;
  stamp.inode = raw.st_ino;
  stamp.size = raw.st_size;
  stamp.modified_ns = Nanoseconds(raw.st_mtim);
  stamp.changed_ns = Nanoseconds(raw.st_ctim);
  return stamp;
}

AresChannels::AresChannels(AresOptions options, std::string resolv_conf)
    : options_(std::move(options)),
      resolv_conf_(std::move(resolv_conf)),
      servers_(ServersOf(options_)) {}

int AresChannels::Take(AresChannel& channel) {
  AresChannel::Stamp now;
  now.resolv_conf = AresChannel::StampOf(resolv_conf_.c_str());
  if (options_.use_hosts_file) {
    now.nsswitch_conf = AresChannel::StampOf(kNsswitchConf);
  }
  Channels outdated;  // destroyed after the lock has been released
  {
    const ThreadMutexLock lock(&mu_);
    while (!idle_.empty() && channel.get() == nullptr) {
      AresChannel last = std::move(idle_.back());
      idle_.pop_back();
      if (last.stamp_ == now) {
        channel = std::move(last);
      } else {
        outdated.push_back(std::move(last));
      }
    }
  }
  if (channel.get() == nullptr) {
    // The files were looked at before c-ares reads them. If they change between
    // the two, the channel is not used again.
    channel.stamp_ = now;
    channel.lookups_ = 0;
    if (const int status = Make(channel); status != ARES_SUCCESS) return status;
  }
  ++channel.lookups_;
  return ARES_SUCCESS;
}

int AresChannels::Make(AresChannel& channel) const {
  // Does nothing on this system, but c-ares asks for it.
  static const int library = ares_library_init(ARES_LIB_INIT_ALL);
  if (library != ARES_SUCCESS) return library;

  // c-ares copies the strings.
  ares_options options = {};
  options.timeout = kNever;
  options.tries = 1;
  options.resolvconf_path = const_cast<char*>(resolv_conf_.c_str());
  int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_RESOLVCONF;
#ifdef ARES_OPT_QUERY_CACHE
  options.qcache_max_ttl = 0;
  mask |= ARES_OPT_QUERY_CACHE;
#endif
  std::vector<char*> domains;
  if (options_.search.has_value()) {
    for (const std::string& domain : *options_.search) {
      domains.push_back(const_cast<char*>(domain.c_str()));
    }
    options.domains = domains.data();
    options.ndomains = static_cast<int>(domains.size());
    mask |= ARES_OPT_DOMAINS;
  }
  char only_servers[] = "b";
  if (!options_.use_hosts_file) {
    options.lookups = only_servers;
    mask |= ARES_OPT_LOOKUPS;
  }
  ares_channel made = nullptr;
  if (const int status = ares_init_options(&made, &options, mask);
      status != ARES_SUCCESS) {
    return status;
  }
  channel.channel_.reset(made);
  if (servers_.empty()) return ARES_SUCCESS;
  const int status = ares_set_servers_ports_csv(made, servers_.c_str());
  if (status != ARES_SUCCESS) channel.Destroy();
  return status;
}

void AresChannels::Keep(AresChannel channel) noexcept {
  // The argument is destroyed after the lock has been released.
  if (channel.lookups_ >= kMaxLookups) return;
  const ThreadMutexLock lock(&mu_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(channel));
}

size_t AresChannels::idle() const {
  const ThreadMutexLock lock(&mu_);
  return idle_.size();
}

}  // namespace rouse::internal
