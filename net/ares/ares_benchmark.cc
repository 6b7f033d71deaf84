// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Compares lookups by c-ares with lookups by the system, with a name server on
// this machine.

#include <dlfcn.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/resolver/system_resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/dns_server.h"
#include "rouse/testing/paused_time.h"

namespace rouse {
namespace {

const DnsServer& Server() {
  static const auto* const server = new DnsServer([](const DnsQuestion&) {
    return DnsAnswer(
        {SocketAddr::IPv4({192, 0, 2, 1}, 0),
         SocketAddr::IPv6(
             {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 0)});
  });
  return *server;
}

AresOptions OptionsFor(const DnsServer& server) {
  AresOptions options;
  options.servers = {server.addr()};
  return options;
}

size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Looks up a name, one lookup after another.
void BM_Lookup(benchmark::State& state, const Resolver& resolver) {
  Server();
  Runtime runtime = Builder::CurrentThread().Build().value();
  for (auto _ : state) {
    CHECK_OK(runtime.BlockOn(resolver.Lookup("db.test.", 80)));
  }
}

void BM_AresLookup(benchmark::State& state) {
  BM_Lookup(state, AresResolver(OptionsFor(Server())));
}
BENCHMARK(BM_AresLookup)->UseRealTime();

void BM_SystemLookup(benchmark::State& state) {
  BM_Lookup(state, SystemResolver());
}
BENCHMARK(BM_SystemLookup)->UseRealTime();

// Begins a lookup that is not answered, and drops it.
void BM_AresBeginAndDrop(benchmark::State& state) {
  const DnsServer silent(
      [](const DnsQuestion&) { return DnsAnswer::Silence(); });
  const AresResolver resolver(OptionsFor(silent));
  Runtime runtime = PausedRuntime();
  for (auto _ : state) {
    auto lookup = runtime.Spawn(resolver.Lookup("db.test.", 80));
    runtime.BlockOn(Advance(absl::ZeroDuration()));
    lookup.Abort();
    runtime.BlockOn(Advance(absl::ZeroDuration()));
  }
}
BENCHMARK(BM_AresBeginAndDrop)->UseRealTime();

// Measures the memory of lookups under way.
void BM_AresBytesUnderWay(benchmark::State& state) {
  constexpr size_t kLookups = 1000;
  const DnsServer silent(
      [](const DnsQuestion&) { return DnsAnswer::Silence(); });
  const AresResolver resolver(OptionsFor(silent));
  for (auto _ : state) {
    Runtime runtime = PausedRuntime();
    const size_t before = BytesInUse();
    for (size_t i = 0; i < kLookups; ++i) {
      runtime.Spawn(resolver.Lookup(absl::StrCat("n", i, ".test."), 80))
          .Detach();
    }
    runtime.BlockOn(Advance(absl::ZeroDuration()));
    state.counters["bytes"] =
        static_cast<double>(BytesInUse() - before) / kLookups;
  }
}
BENCHMARK(BM_AresBytesUnderWay)->Iterations(1);

// Measures the memory of a resolver after one lookup, and after many at once.
void BM_AresBytesIdle(benchmark::State& state) {
  Runtime runtime = Builder::CurrentThread().Build().value();
  const auto lookups = [&runtime](const Resolver& resolver, int64_t count) {
    std::vector<JoinHandle<Resolver::Result>> all;
    for (int64_t i = 0; i < count; ++i) {
      all.push_back(runtime.Spawn(resolver.Lookup("db.test.", 80)));
    }
    for (JoinHandle<Resolver::Result>& lookup : all) {
      CHECK_OK(runtime.BlockOn(std::move(lookup)));
    }
  };
  // What the runtime keeps is not counted.
  lookups(AresResolver(OptionsFor(Server())), state.range(0));
  for (auto _ : state) {
    const AresResolver resolver(OptionsFor(Server()));
    const size_t before = BytesInUse();
    lookups(resolver, state.range(0));
    state.counters["bytes"] = static_cast<double>(BytesInUse() - before);
  }
}
BENCHMARK(BM_AresBytesIdle)->Arg(1)->Arg(50)->Iterations(1);

}  // namespace
}  // namespace rouse

// Lets the system ask the name server of the benchmark, which is not at the
// usual port: changes the thread's state of the system's resolver, and calls
// the system's function.
extern "C" int getaddrinfo(const char* node, const char* service,
                           const addrinfo* hints, addrinfo** result) {
  thread_local const bool once = [] {
    res_init();
    _res.nscount = 1;
    const rouse::SocketAddr addr = rouse::Server().addr();
    _res.nsaddr_list[0] = *reinterpret_cast<const sockaddr_in*>(addr.data());
    return true;
  }();
  static_cast<void>(once);
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(node, service, hints, result);
}
