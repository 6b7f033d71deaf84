// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests that lookups with c-ares go on while the system does not answer.

#include <netdb.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/lookup_host.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/dns_server.h"

namespace {

ABSL_CONST_INIT absl::Mutex mu(absl::kConstInit);
ABSL_CONST_INIT bool answers ABSL_GUARDED_BY(mu) = false;
ABSL_CONST_INIT size_t waiting ABSL_GUARDED_BY(mu) = 0;

}  // namespace

// Replaces the system's function: blocks until `answers` is set, and then
// reports that the name does not exist.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo*,
                           addrinfo**) {
  const absl::MutexLock lock(&mu);
  ++waiting;
  mu.Await(absl::Condition(&answers));
  --waiting;
  return EAI_NONAME;
}

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

TEST(AresOutageTest, LooksUpWhileAllThreadsForLookupsWait) {
  const SocketAddr found = SocketAddr::IPv4({192, 0, 2, 1}, 80);
  const DnsServer server(
      [&found](const DnsQuestion&) { return DnsAnswer({found}); });
  AresOptions options;
  options.servers = {server.addr()};
  options.search.emplace();
  options.timeout = absl::Hours(1);
  const AresResolver resolver(options);
  Runtime runtime = Builder::MultiThread().WorkerThreads(2).Build().value();
  auto look_up = []() -> Co<absl::Status> {
    co_return (co_await LookupHost("silent.test", 80)).status();
  };
  std::vector<JoinHandle<absl::Status>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(runtime.Spawn(look_up));
  {
    const absl::MutexLock lock(&mu);
    const auto full = []() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
      return waiting == 64;
    };
    mu.Await(absl::Condition(&full));
  }
  EXPECT_EQ(runtime.metrics().lookups.threads, 64u);
  EXPECT_THAT(runtime.BlockOn(resolver.Lookup("db.test", 80)),
              IsOkAndHolds(ElementsAre(found)));
  {
    const absl::MutexLock lock(&mu);
    answers = true;
  }
  for (JoinHandle<absl::Status>& task : tasks) {
    EXPECT_THAT(runtime.BlockOn(std::move(task)),
                StatusIs(absl::StatusCode::kNotFound));
  }
}

}  // namespace
}  // namespace rouse
