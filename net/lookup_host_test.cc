// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/lookup_host.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/net/socket_addr.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using scheduler::BlockingOptions;
using scheduler::BlockingPool;
using scheduler::ScopedBlockingPool;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

// A fixture whose thread has a pool of one thread.
class LookupHostTest : public ::testing::Test {
 protected:
  static BlockingPool::Owner OneThread() {
    BlockingOptions options;
    options.max_threads = 1;
    return BlockingPool::Create(std::move(options));
  }

  const BlockingPool::Owner pool_ = OneThread();
  const ScopedBlockingPool current_{*pool_};
};

TEST_F(LookupHostTest, FindsThisMachine) {
  const absl::StatusOr<std::vector<SocketAddr>> addrs =
      BlockOn(LookupHost("localhost", 80));
  ASSERT_THAT(addrs, IsOk());
  EXPECT_THAT(*addrs, AnyOf(Contains(Addr("127.0.0.1:80")),
                            Contains(Addr("[::1]:80"))));
  EXPECT_EQ(pool_->lookup_metrics().threads, 1u);
  EXPECT_EQ(pool_->metrics().threads, 0u);
}

TEST_F(LookupHostTest, ReturnsNoAddressTwice) {
  const std::vector<SocketAddr> addrs =
      BlockOn(LookupHost("localhost:80")).value();
  for (const SocketAddr& addr : addrs) {
    EXPECT_THAT(addrs, Contains(addr).Times(1));
  }
}

TEST_F(LookupHostTest, TakesNameAndPortInOneString) {
  EXPECT_EQ(BlockOn(LookupHost("localhost:80")),
            BlockOn(LookupHost("localhost", 80)));
}

TEST_F(LookupHostTest, AnAddressNeedsNoThread) {
  EXPECT_THAT(BlockOn(LookupHost("192.0.2.1", 80)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  EXPECT_THAT(BlockOn(LookupHost("192.0.2.1:0")),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:0"))));
  EXPECT_THAT(BlockOn(LookupHost("2001:db8::1", 65535)),
              IsOkAndHolds(ElementsAre(Addr("[2001:db8::1]:65535"))));
  EXPECT_THAT(BlockOn(LookupHost("[2001:db8::1]:80")),
              IsOkAndHolds(ElementsAre(Addr("[2001:db8::1]:80"))));
  EXPECT_EQ(pool_->metrics().threads, 0u);
}

TEST_F(LookupHostTest, AnAddressCanHaveAScope) {
  EXPECT_THAT(BlockOn(LookupHost("fe80::1%3", 80)),
              IsOkAndHolds(ElementsAre(Addr("[fe80::1%3]:80"))));
  EXPECT_THAT(BlockOn(LookupHost("fe80::1%no-such-one", 80)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("fe80::1%no-such-one")));
}

// Looks up a name that never exists (RFC 6761). Without a network the name
// servers do not answer; a server that refuses such queries causes its own
// error.
TEST_F(LookupHostTest, ANameThatDoesNotExistIsNotFound) {
  // Limits a lookup to one query and one second. The name ends with a dot, so
  // that no search list is tried. Each thread reads the options anew.
  ASSERT_EQ(setenv("RES_OPTIONS", "timeout:1 attempts:1", /*overwrite=*/1), 0);
  EXPECT_THAT(BlockOn(LookupHost("nothing.invalid.", 80)),
              StatusIs(AnyOf(absl::StatusCode::kNotFound,
                             absl::StatusCode::kUnavailable,
                             absl::StatusCode::kInternal),
                       HasSubstr("LookupHost(\"nothing.invalid.\")")));
}

TEST_F(LookupHostTest, RefusesInvalidNames) {
  for (const std::string& host :
       {std::string(), std::string("a\0b", 3), std::string(255, 'a'),
        std::string("1:2"), std::string("[::1]")}) {
    EXPECT_THAT(BlockOn(LookupHost(host, 80)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << host;
  }
  EXPECT_EQ(pool_->metrics().threads, 0u);
}

TEST_F(LookupHostTest, RefusesInvalidNamesAndPorts) {
  for (const std::string_view text :
       {"", ":", ":80", "localhost", "localhost:", "localhost:x",
        "localhost:-1", "localhost:65536", "localhost:000080", "::1:80",
        "[::1]", "[::1]80", "[]:80", "[:80", "[localhost]:80", "[[::1]]:80",
        "[127.0.0.1]:80"}) {
    EXPECT_THAT(BlockOn(LookupHost(text)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
  EXPECT_EQ(pool_->metrics().threads, 0u);
}

TEST_F(LookupHostTest, CanBeCancelledBeforeItBegins) {
  absl::Notification begun;
  absl::Notification end;
  pool_
      ->Spawn([&] {
        begun.Notify();
        end.WaitForNotification();
      })
      .Detach();
  begun.WaitForNotification();
  {
    const Waker waker;
    Context cx(waker);
    LookupHostFuture lookup = LookupHost(*pool_, "localhost", 80);
    EXPECT_TRUE(lookup.Poll(cx).IsPending());
    EXPECT_EQ(pool_->metrics().queue_depth, 1u);
  }
  end.Notify();
  EXPECT_THAT(BlockOn(LookupHost(*pool_, "localhost", 80)), IsOk());
}

TEST_F(LookupHostTest, NamesAreUnavailableAfterThePoolShutsDown) {
  pool_->Close();
  EXPECT_THAT(BlockOn(LookupHost("localhost", 80)),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("LookupHost(\"localhost\")")));
}

TEST_F(LookupHostTest, UsesAGivenPool) {
  const BlockingPool::Owner own = OneThread();
  EXPECT_THAT(BlockOn(LookupHost(*own, "localhost", 80)), IsOk());
  EXPECT_THAT(BlockOn(LookupHost(*own, "localhost:80")), IsOk());
  EXPECT_EQ(own->metrics().threads, 1u);
  EXPECT_EQ(pool_->metrics().threads, 0u);
  EXPECT_EQ(pool_->lookup_metrics().threads, 0u);
}

TEST(LookupHost, FailsWithoutAPool) {
  EXPECT_THAT(BlockOn(LookupHost("localhost", 80)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(BlockOn(LookupHost("127.0.0.1", 80)), IsOk());
}

TEST(LookupHost, ReportsTheErrorOfTheResolver) {
  const auto code = [](int eai, int error = 0) {
    return internal::LookupError(eai, error, "a.example").code();
  };
  EXPECT_EQ(code(EAI_NONAME), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(EAI_AGAIN), absl::StatusCode::kUnavailable);
  EXPECT_EQ(code(EAI_FAIL), absl::StatusCode::kInternal);
  EXPECT_EQ(code(EAI_MEMORY), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EAI_SYSTEM, EMFILE), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(internal::LookupError(EAI_FAIL, 0, "a.example").message(),
              HasSubstr("LookupHost(\"a.example\"): "));
}

TEST(LookupHost, PollingACompleteLookupPanics) {
  const Waker waker;
  Context cx(waker);
  LookupHostFuture lookup = LookupHost("127.0.0.1", 80);
  EXPECT_TRUE(lookup.Poll(cx).IsReady());
  EXPECT_PANIC(static_cast<void>(lookup.Poll(cx)),
               "LookupHost was polled after");
}

}  // namespace
}  // namespace rouse
