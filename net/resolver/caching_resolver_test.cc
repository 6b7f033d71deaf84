// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/caching_resolver.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/resolver/static_resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

// Answers the nth lookup, of whatever name, with 192.0.2.n, or with an error.
// The test can make lookups wait.
class CountingResolver : public Resolver {
 public:
  const std::vector<std::string>& names() const { return names_; }
  void FailWith(absl::Status error) { error_ = std::move(error); }
  // Lets the next lookup wait for the end of `gate`.
  void Hold(oneshot::Receiver<bool> gate) { gate_.emplace(std::move(gate)); }

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override {
    return Answer(std::move(name), port);
  }
  Co<Result> Answer(std::string name, uint16_t port) const {
    names_.push_back(std::move(name));
    const size_t number = names_.size();
    std::optional<oneshot::Receiver<bool>> gate = std::move(gate_);
    gate_.reset();
    if (gate.has_value()) {
      auto opened = co_await *std::move(gate);
      if (!opened.ok()) co_return opened.status();
    }
    if (!error_.ok()) co_return error_;
    co_return std::vector{Addr(absl::StrCat("192.0.2.", number, ":", port))};
  }

  mutable std::vector<std::string> names_;
  mutable std::optional<oneshot::Receiver<bool>> gate_;
  absl::Status error_;
};

class CachingResolverTest : public ::testing::Test {
 protected:
  Resolver::Result Lookup(std::string_view host_port) {
    return runtime_.BlockOn(resolver_.Lookup(host_port));
  }
  void Pass(absl::Duration time) { runtime_.BlockOn(Advance(time)); }

  Runtime runtime_ = PausedRuntime();
  CountingResolver inner_;
  CachingResolver resolver_{inner_, {.ttl = absl::Seconds(10), .max_names = 2}};
};

TEST_F(CachingResolverTest, KeepsAnAnswerForItsTime) {
  EXPECT_THAT(Lookup("db.test:80"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  Pass(absl::Milliseconds(9999));
  EXPECT_THAT(Lookup("db.test:80"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  Pass(absl::Milliseconds(1));
  EXPECT_THAT(Lookup("db.test:80"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.2:80"))));
}

TEST_F(CachingResolverTest, PortsShareAnAnswer) {
  EXPECT_THAT(Lookup("db.test:80"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  EXPECT_THAT(Lookup("db.test:81"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:81"))));
  EXPECT_THAT(Lookup("DB.Test:82"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:82"))));
  EXPECT_THAT(inner_.names(), ElementsAre("db.test"));
}

TEST_F(CachingResolverTest, KeepsThePortsThatTheOtherResolverFixes) {
  StaticResolver fixed;
  fixed.Add("db.test", {Addr("192.0.2.1:5001"), Addr("192.0.2.1:5002"),
                        Addr("192.0.2.1:0")});
  const CachingResolver resolver(fixed);
  for (const uint16_t port : {80, 81}) {
    EXPECT_THAT(
        runtime_.BlockOn(resolver.Lookup("db.test", port)),
        IsOkAndHolds(ElementsAre(Addr("192.0.2.1:5001"), Addr("192.0.2.1:5002"),
                                 Addr(absl::StrCat("192.0.2.1:", port)))));
  }
}

TEST_F(CachingResolverTest, KeepsNoError) {
  inner_.FailWith(absl::UnavailableError("no answer"));
  EXPECT_THAT(Lookup("db.test:80"),
              StatusIs(absl::StatusCode::kUnavailable, "no answer"));
  inner_.FailWith(absl::OkStatus());
  EXPECT_THAT(Lookup("db.test:80"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.2:80"))));
}

TEST_F(CachingResolverTest, DropsTheAnswerThatArrivedFirst) {
  Lookup("a.test:80").value();
  Pass(absl::Seconds(1));
  Lookup("b.test:80").value();
  Pass(absl::Seconds(1));
  Lookup("a.test:80").value();
  Lookup("c.test:80").value();
  Lookup("b.test:80").value();
  EXPECT_THAT(inner_.names(), ElementsAre("a.test", "b.test", "c.test"));
  Lookup("a.test:80").value();
  EXPECT_THAT(inner_.names(),
              ElementsAre("a.test", "b.test", "c.test", "a.test"));
}

TEST_F(CachingResolverTest, CanBeCleared) {
  Lookup("db.test:80").value();
  resolver_.Clear();
  EXPECT_THAT(Lookup("db.test:80"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.2:80"))));
}

TEST_F(CachingResolverTest, ConcurrentLookupsShareOne) {
  auto [sender, receiver] = oneshot::Channel<bool>();
  inner_.Hold(std::move(receiver));
  std::vector<JoinHandle<Resolver::Result>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(runtime_.Spawn(resolver_.Lookup("db.test", 80)));
  }
  Pass(absl::ZeroDuration());
  EXPECT_THAT(inner_.names(), ElementsAre("db.test"));
  ASSERT_TRUE(sender.Send(true));
  for (JoinHandle<Resolver::Result>& task : tasks) {
    EXPECT_THAT(runtime_.BlockOn(std::move(task)),
                IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  }
  EXPECT_THAT(inner_.names(), ElementsAre("db.test"));
}

TEST_F(CachingResolverTest, AnotherTaskLooksUpAfterTheFirstGaveUp) {
  auto [sender, receiver] = oneshot::Channel<bool>();
  inner_.Hold(std::move(receiver));
  JoinHandle<Resolver::Result> first =
      runtime_.Spawn(resolver_.Lookup("db.test", 80));
  Pass(absl::ZeroDuration());
  JoinHandle<Resolver::Result> second =
      runtime_.Spawn(resolver_.Lookup("db.test", 80));
  Pass(absl::ZeroDuration());
  first.Abort();
  EXPECT_THAT(runtime_.BlockOn(std::move(second)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.2:80"))));
  EXPECT_TRUE(sender.IsClosed());
}

TEST_F(CachingResolverTest, NeedsTimers) {
  EXPECT_THAT(BlockOn(resolver_.Lookup("db.test", 80)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(inner_.names(), IsEmpty());
  EXPECT_THAT(BlockOn(resolver_.Lookup("192.0.2.9", 80)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.9:80"))));
}

}  // namespace
}  // namespace rouse
