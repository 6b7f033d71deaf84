// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ares_options.h
// -----------------------------------------------------------------------------
//
// The options of an `AresResolver`:
//
//   const rouse::AresResolver resolver({
//       .servers = {rouse::SocketAddr::IPv4({192, 0, 2, 53}, 53)},
//       .timeout = absl::Seconds(1),
//   });

#ifndef ROUSE_NET_ARES_ARES_OPTIONS_H_
#define ROUSE_NET_ARES_ARES_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "rouse/net/socket_addr.h"

namespace rouse {

// AresOptions
//
// The options of an `AresResolver`. The defaults are those of the system's
// files: /etc/resolv.conf, /etc/nsswitch.conf and /etc/hosts.
struct AresOptions {
  // The name servers, in the order in which they are asked; port 0 stands for
  // port 53. If empty, those of /etc/resolv.conf. An address must not have a
  // scope.
  std::vector<SocketAddr> servers;
  // The domains that are appended to a name with few dots. If not given, those
  // of /etc/resolv.conf; if empty, a name is only looked up as it is.
  std::optional<std::vector<std::string>> search;
  // If true, names of /etc/hosts are found, and /etc/nsswitch.conf says whether
  // the file comes before the name servers.
  bool use_hosts_file = true;
  // How long a name server may take to answer, on the clock of the runtime. The
  // time doubles after each attempt. `timeout` in /etc/resolv.conf has no
  // effect. Must be positive.
  absl::Duration timeout = absl::Seconds(5);
  // How often all name servers are asked, one after another, before a lookup
  // fails, at least 1. `attempts` in /etc/resolv.conf has no effect.
  int attempts = 2;
};

}  // namespace rouse

#endif  // ROUSE_NET_ARES_ARES_OPTIONS_H_
