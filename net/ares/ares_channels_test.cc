// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/ares/ares_channels.h"

#include <ares.h>

#include <cstddef>
#include <fstream>
#include <ios>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/net/ares/ares_fixture.h"
#include "rouse/net/ares/ares_lookup.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/dns_server.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/paused_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

DnsAnswer Found() { return DnsAnswer({Addr("192.0.2.1:0")}); }

class AresChannelsTest : public ::testing::Test {
 protected:
  void Make(AresOptions options, std::string resolv_conf = "/etc/resolv.conf") {
    channels_ = std::make_shared<AresChannels>(std::move(options),
                                               std::move(resolv_conf));
  }

  Resolver::LookupFuture Begin(std::string name = "db.test") {
    auto lookup = std::make_unique<AresLookup>(channels_, std::move(name), 80);
    auto poll = [lookup = std::move(lookup)](Context& cx) {
      return lookup->Poll(cx);
    };
    return PollFn(std::move(poll));
  }
  Resolver::Result Lookup(std::string name = "db.test") {
    return runtime_.BlockOn(Begin(std::move(name)));
  }

  std::shared_ptr<AresChannels> channels_;
  Runtime runtime_ = Builder::CurrentThread().Build().value();
};

TEST_F(AresChannelsTest, ALookupThatFindsAddressesGivesItsChannelBack) {
  const DnsServer server([](const DnsQuestion&) { return Found(); });
  Make(Options({server.addr()}));
  EXPECT_EQ(channels_->idle(), 0u);
  EXPECT_THAT(Lookup(), IsOk());
  EXPECT_EQ(channels_->idle(), 1u);
  AresChannel kept;
  ASSERT_EQ(channels_->Take(kept), ARES_SUCCESS);
  auto* const first = kept.get();
  EXPECT_EQ(channels_->idle(), 0u);
  channels_->Keep(std::move(kept));
  // The next lookup uses the channel.
  EXPECT_THAT(Lookup(), IsOk());
  ASSERT_EQ(channels_->Take(kept), ARES_SUCCESS);
  EXPECT_EQ(kept.get(), first);
}

TEST_F(AresChannelsTest, KeepsNoAnswer) {
  const DnsServer server([](const DnsQuestion&) { return Found(); });
  Make(Options({server.addr()}));
  for (size_t i = 1; i <= 5; ++i) {
    EXPECT_THAT(Lookup(), IsOk());
    EXPECT_EQ(server.questions().size(), 2 * i);
  }
}

TEST_F(AresChannelsTest, AKeptChannelHasNoDescriptor) {
  const DnsServer server([](const DnsQuestion&) { return Found(); });
  Make(Options({server.addr()}));
  // The runtime opens its descriptors before.
  EXPECT_THAT(Lookup(), IsOk());
  const size_t descriptors = reactor::CountOpenFds();
  for (int i = 0; i < 3 * AresChannels::kMaxLookups; ++i) {
    ASSERT_THAT(Lookup(), IsOk());
    ASSERT_EQ(reactor::CountOpenFds(), descriptors);
  }
}

TEST_F(AresChannelsTest, AKeptChannelHasNoDescriptorAfterATcpAnswer) {
  const DnsServer server([](const DnsQuestion&) {
    return DnsAnswer(std::vector<SocketAddr>(200, Addr("192.0.2.1:0")));
  });
  Make(Options({server.addr()}));
  const size_t descriptors = reactor::CountOpenFds();
  for (size_t i = 1; i <= 10; ++i) {
    ASSERT_THAT(Lookup(), IsOk());
    EXPECT_EQ(channels_->idle(), 1u);
    // Three questions: only one of the two answers is long.
    EXPECT_EQ(server.questions().size(), 3 * i);
  }
  // The server closes its ends of the connections later.
  while (reactor::CountOpenFds() > descriptors) std::this_thread::yield();
}

TEST_F(AresChannelsTest, AChannelServesABoundedNumberOfLookups) {
  Make(Options({}));
  AresChannel channel;
  ASSERT_EQ(channels_->Take(channel), ARES_SUCCESS);
  for (int lookups = 1; lookups < AresChannels::kMaxLookups; ++lookups) {
    channels_->Keep(std::move(channel));
    ASSERT_EQ(channels_->idle(), 1u) << lookups;
    ASSERT_EQ(channels_->Take(channel), ARES_SUCCESS);
  }
  channels_->Keep(std::move(channel));
  EXPECT_EQ(channels_->idle(), 0u);
}

TEST_F(AresChannelsTest, KeepsABoundedNumberOfChannels) {
  Make(Options({}));
  std::vector<AresChannel> channels(AresChannels::kMaxIdle + 3);
  std::set<ares_channel> different;
  for (AresChannel& channel : channels) {
    ASSERT_EQ(channels_->Take(channel), ARES_SUCCESS);
    different.insert(channel.get());
  }
  EXPECT_EQ(different.size(), channels.size());
  for (AresChannel& channel : channels) channels_->Keep(std::move(channel));
  EXPECT_EQ(channels_->idle(), AresChannels::kMaxIdle);
}

TEST_F(AresChannelsTest, ALookupThatSawAFailureDestroysItsChannel) {
  const DnsServer server([](const DnsQuestion& question) {
    if (question.name == "no.test") return DnsAnswer::Error(kNameError);
    if (question.name == "bad.test") return DnsAnswer::Error(kServerFailure);
    // One of two queries fails.
    if (question.name == "half.test" && question.type == DnsQuestion::kAaaa) {
      return DnsAnswer::Error(kServerFailure);
    }
    return Found();
  });
  Make(Options({server.addr()}));
  for (const auto& [name, code] :
       {std::pair("no.test", absl::StatusCode::kNotFound),
        std::pair("bad.test", absl::StatusCode::kUnavailable),
        std::pair("a..b", absl::StatusCode::kInvalidArgument),
        std::pair("half.test", absl::StatusCode::kOk)}) {
    EXPECT_THAT(Lookup(), IsOk());
    EXPECT_EQ(channels_->idle(), 1u);
    EXPECT_EQ(Lookup(name).status().code(), code) << name;
    EXPECT_EQ(channels_->idle(), 0u) << name;
  }
}

TEST_F(AresChannelsTest, AServerThatCannotBeReachedDestroysTheChannel) {
  const DnsServer server([](const DnsQuestion&) { return Found(); });
  Make(Options({ClosedPort(), server.addr()}));
  EXPECT_THAT(Lookup(), IsOk());
  EXPECT_EQ(channels_->idle(), 0u);
}

TEST_F(AresChannelsTest, ACancelledLookupDestroysItsChannel) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.name == "db.test" ? Found() : DnsAnswer::Silence();
  });
  Make(Options({server.addr()}));
  EXPECT_THAT(Lookup(), IsOk());
  const size_t descriptors = reactor::CountOpenFds();
  {
    auto lookup = Begin("silent.test");
    auto poll = [&lookup](Context& cx) -> PollResult<bool> {
      return lookup.Poll(cx).IsPending();
    };
    EXPECT_TRUE(runtime_.BlockOn(PollFn(poll)));
    EXPECT_EQ(channels_->idle(), 0u);
    EXPECT_GT(reactor::CountOpenFds(), descriptors);
  }
  EXPECT_EQ(channels_->idle(), 0u);
  EXPECT_EQ(reactor::CountOpenFds(), descriptors);
}

TEST_F(AresChannelsTest, ALookupThatTimesOutDestroysItsChannel) {
  // An address is found although the other query times out.
  const DnsServer server([](const DnsQuestion& question) {
    return question.name == "half.test" && question.type == DnsQuestion::kA
               ? Found()
               : DnsAnswer::Silence();
  });
  AresOptions options = Options({server.addr()});
  options.timeout = absl::Seconds(5);
  options.attempts = 1;
  Make(std::move(options));
  runtime_ = PausedRuntime();
  for (const auto& [name, code] :
       {std::pair("half.test", absl::StatusCode::kOk),
        std::pair("silent.test", absl::StatusCode::kUnavailable)}) {
    const size_t asked = server.questions().size();
    JoinHandle<Resolver::Result> lookup = runtime_.Spawn(Begin(name));
    runtime_.BlockOn(Advance(absl::Seconds(1)));
    server.AwaitQuestions(asked + 2);
    runtime_.BlockOn(Advance(absl::Seconds(5)));
    const auto result = runtime_.BlockOn(std::move(lookup));
    EXPECT_EQ(result.status().code(), code) << name;
    EXPECT_EQ(channels_->idle(), 0u) << name;
  }
}

TEST_F(AresChannelsTest, ChannelsThatAreOlderThanTheFilesAreNotUsed) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.name == "db.one.test" || question.name == "db.three.test"
               ? Found()
               : DnsAnswer::Error(kNameError);
  });
  const std::string path = absl::StrCat(::testing::TempDir(), "/resolv.conf");
  const auto write = [&path](std::string_view text) {
    std::ofstream(path, std::ios::trunc) << text << "\noptions ndots:1\n";
  };
  AresOptions options = Options({server.addr()});
  options.search.reset();
  Make(std::move(options), path);
  write("search one.test");
  EXPECT_THAT(Lookup("db"), IsOk());
  EXPECT_EQ(server.questions().back().name, "db.one.test");
  EXPECT_EQ(channels_->idle(), 1u);
  // Another size, whatever the clock of the file system.
  write("search three.test");
  EXPECT_THAT(Lookup("db"), IsOk());
  EXPECT_EQ(server.questions().back().name, "db.three.test");
  EXPECT_EQ(channels_->idle(), 1u);
  // A channel that is given back after a change is not used, either.
  AresChannel old;
  ASSERT_EQ(channels_->Take(old), ARES_SUCCESS);
  write("search t.test");
  channels_->Keep(std::move(old));
  EXPECT_THAT(Lookup("db"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(channels_->idle(), 0u);
}

TEST_F(AresChannelsTest, CopiesOfAResolverWorkAfterTheOriginal) {
  const DnsServer server([](const DnsQuestion&) { return Found(); });
  auto original = std::make_unique<AresResolver>(Options({server.addr()}));
  EXPECT_THAT(runtime_.BlockOn(original->Lookup("db.test", 80)), IsOk());
  const AresResolver copy(*original);
  original.reset();
  EXPECT_THAT(runtime_.BlockOn(copy.Lookup("db.test", 80)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
}

// Looks up `count` names, one after another. Returns how many were found.
Co<int> LookUpMany(std::shared_ptr<AresChannels> channels, int id, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    AresLookup lookup(channels, absl::StrCat("n", id, "-", i, ".test"), 80);
    auto poll = [&lookup](Context& cx) { return lookup.Poll(cx); };
    const Resolver::Result result = co_await PollFn(poll);
    if (result.ok()) ++found;
  }
  co_return found;
}

// Channels go from one worker to another.
TEST(AresChannels, ManyTasksShareTheChannels) {
  const DnsServer server([](const DnsQuestion&) { return Found(); });
  const auto channels =
      std::make_shared<AresChannels>(OptionsForMany(server.addr()));
  Runtime runtime = Builder::MultiThread().WorkerThreads(2).Build().value();
  constexpr int kTasks = 20;
  constexpr int kLookups = 50;
  std::vector<JoinHandle<int>> tasks;
  for (int id = 0; id < kTasks; ++id) {
    tasks.push_back(runtime.Spawn(LookUpMany(channels, id, kLookups)));
  }
  for (JoinHandle<int>& task : tasks) {
    EXPECT_THAT(runtime.BlockOn(std::move(task)), IsOkAndHolds(kLookups));
  }
  EXPECT_GE(channels->idle(), 1u);
  EXPECT_LE(channels->idle(), AresChannels::kMaxIdle);
}

}  // namespace
}  // namespace rouse::internal
