// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the addresses of names, all of which are looked up concurrently:
//
//   tools/bazel run -c opt //examples/resolve -- example.com example.org
//   tools/bazel run -c opt //examples/resolve -- --server=192.0.2.1 example.com

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/resolver/system_resolver.h"
#include "rouse/rouse.h"

ABSL_FLAG(std::vector<std::string>, server, {},
          "Name servers to ask, such as 192.0.2.53 or [2001:db8::53]:5353, "
          "instead of those of /etc/resolv.conf.");
ABSL_FLAG(absl::Duration, timeout, absl::Seconds(5),
          "How long a name server may take to answer.");
ABSL_FLAG(bool, system, false,
          "Ask the operating system, on a thread for each name, instead of the "
          "name servers.");

namespace {

// Parses an address that may lack the port.
absl::StatusOr<rouse::SocketAddr> ParseServer(const std::string& text) {
  absl::StatusOr<rouse::SocketAddr> addr = rouse::SocketAddr::Parse(text);
  if (!addr.ok()) addr = rouse::SocketAddr::Parse(absl::StrCat(text, ":53"));
  if (!addr.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--server=", text, ": write 192.0.2.53 or [2001:db8::53]:5353"));
  }
  return addr;
}

absl::StatusOr<std::unique_ptr<rouse::Resolver>> MakeResolver() {
  if (absl::GetFlag(FLAGS_system)) {
    return std::make_unique<rouse::SystemResolver>();
  }
  rouse::AresOptions options;
  options.timeout = absl::GetFlag(FLAGS_timeout);
  for (const std::string& text : absl::GetFlag(FLAGS_server)) {
    absl::StatusOr<rouse::SocketAddr> server = ParseServer(text);
    if (!server.ok()) return server.status();
    options.servers.push_back(*server);
  }
  return std::make_unique<rouse::AresResolver>(std::move(options));
}

// Prints the addresses of `names`. Returns the last error.
rouse::Co<absl::Status> Main(std::vector<std::string> names) {
  auto resolver = co_await rouse::OrReturn(MakeResolver());
  std::vector<rouse::Resolver::LookupFuture> lookups;
  for (const std::string& name : names) {
    lookups.push_back(resolver->Lookup(name, 0));
  }
  auto all = rouse::JoinAll(std::move(lookups));
  const auto results = co_await std::move(all);
  absl::Status failure;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!results[i].ok()) {
      failure = results[i].status();
      absl::FPrintF(stderr, "%s\n", failure.message());
      continue;
    }
    for (const rouse::SocketAddr& addr : *results[i]) {
      std::string text = addr.ToString();
      text.resize(text.rfind(':'));  // without the port
      absl::PrintF("%s has address %s\n", names[i], text);
    }
  }
  co_return failure;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Prints the addresses of names: resolve NAME...");
  absl::InitializeLog();
  const std::vector<char*> args = absl::ParseCommandLine(argc, argv);
  std::vector<std::string> names(args.begin() + 1, args.end());
  if (names.empty()) {
    absl::FPrintF(stderr, "resolve: no name is given; see --help\n");
    return 1;
  }
  return rouse::RunMain(Main(std::move(names)));
}
