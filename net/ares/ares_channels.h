// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ares_channels.h
// -----------------------------------------------------------------------------
//
// Internal to net/ares/: the channels of c-ares, and those that wait for the
// next lookup.
//
// c-ares 1.18 needs 100,000 instructions to make a channel and to destroy it,
// most of them for tables. `ares_dup()`, and options that leave c-ares no file
// to read, need 85,000. A lookup therefore takes a kept channel if there is
// one. At any time a channel belongs to one lookup or is kept; the lock of
// `AresChannels` orders a lookup before the next lookup of the channel.
//
// # What remains of a lookup in a kept channel
//
// Nothing that another lookup could notice. A lookup gives back a channel only
// if all its queries were answered and no socket is open, so no answer can come
// later, and the next lookup sends from new source ports. A channel that has
// seen a failure is destroyed, because later versions of c-ares remember which
// server has failed. The cache of answers that c-ares has since 1.31 is turned
// off. The random state for the numbers of queries goes on, until the channel
// has had `kMaxLookups` lookups.
//
// # Changes of the system's files
//
// c-ares reads /etc/resolv.conf and /etc/nsswitch.conf only for a new channel
// (and /etc/hosts in each lookup). A channel has the stamp that the two files
// had before, and is destroyed instead of used again if they have another stamp
// now. `ares_reinit()` does not exist before c-ares 1.22, and uses a thread
// later.

#ifndef ROUSE_NET_ARES_ARES_CHANNELS_H_
#define ROUSE_NET_ARES_ARES_CHANNELS_H_

#include <ares.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/net/ares/ares_options.h"

namespace rouse::internal {

// AresChannel
//
// A channel of c-ares, or nothing.
class AresChannel {
 public:
  ares_channel get() const { return channel_.get(); }

  // Destroys the channel. c-ares calls back for each query that has not ended,
  // and closes all sockets.
  void Destroy() { channel_.reset(); }

 private:
  friend class AresChannels;

  // Tells versions of a file apart.
  struct FileStamp {
    bool operator==(const FileStamp&) const = default;

    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
  };
  struct Stamp {
    bool operator==(const Stamp&) const = default;

    FileStamp resolv_conf;
    FileStamp nsswitch_conf;
  };
  struct Deleter {
    void operator()(ares_channel channel) const { ares_destroy(channel); }
  };

  static FileStamp StampOf(const char* path);

  std::unique_ptr<std::remove_pointer_t<ares_channel>, Deleter> channel_;
  Stamp stamp_;
  int lookups_ = 0;
};

// AresChannels
//
// Makes channels for an `AresResolver` and its copies, and keeps channels
// between lookups. Thread-safe.
class AresChannels {
 public:
  // How many channels are kept at most.
  static constexpr size_t kMaxIdle = 8;
  // How many lookups a channel serves before a new one, with new random
  // numbers, takes its place.
  static constexpr int kMaxLookups = 100;

  // `resolv_conf` is the path of /etc/resolv.conf, which tests replace.
  explicit AresChannels(AresOptions options,
                        std::string resolv_conf = "/etc/resolv.conf");
  AresChannels(const AresChannels&) = delete;
  AresChannels& operator=(const AresChannels&) = delete;

  const AresOptions& options() const { return options_; }
  // Returns the name servers of the options as a list for c-ares and for
  // messages, or an empty string.
  const std::string& servers() const { return servers_; }

  // Assigns a kept channel to `channel`, which must be empty, or a new one.
  // Returns a status of c-ares. Two system calls, and for a new channel those
  // that read the system's files.
  int Take(AresChannel& channel) ABSL_LOCKS_EXCLUDED(mu_);

  // Keeps `channel` for a later `Take()`, or destroys the channel if enough are
  // kept. No query and no socket of `channel` may be left.
  void Keep(AresChannel channel) noexcept ABSL_LOCKS_EXCLUDED(mu_);

  // Returns how many channels are kept.
  size_t idle() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Channels = absl::InlinedVector<AresChannel, kMaxIdle>;

  // Makes a channel. Returns a status of c-ares.
  int Make(AresChannel& channel) const;

  const AresOptions options_;
  const std::string resolv_conf_;
  const std::string servers_;

  mutable ThreadMutex mu_;
  Channels idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_ARES_ARES_CHANNELS_H_
