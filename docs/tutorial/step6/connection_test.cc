// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "connection.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/rouse.h"
#include "rouse/testing/paused_time.h"
#include "store.h"

TEST(Serve, EndsAConnectionThatIsIdleForFiveSeconds) {
  rouse::PausedRuntime().BlockOn([]() -> rouse::Co<> {
    auto [client, server] = rouse::Duplex(1024);
    rouse::JoinHandle<absl::Status> serving =
        rouse::Spawn(Serve(std::move(server), StartStore()));
    (void)co_await rouse::WriteAll(client, "SET city Paris\n");
    co_await rouse::Advance(absl::Milliseconds(4999));
    EXPECT_FALSE(serving.IsFinished());
    co_await rouse::Advance(absl::Milliseconds(1));
    EXPECT_TRUE(serving.IsFinished());
    std::string output;
    (void)co_await rouse::ReadToEnd(client, output);
    EXPECT_EQ(output, "OK\r\nERR idle for 5s\r\n");
  });
}
