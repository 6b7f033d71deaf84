// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// What each end of each channel does after it was moved from.

#include <functional>
#include <string>
#include <utility>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/sync/broadcast/broadcast.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/sync/oneshot/oneshot.h"
#include "rouse/sync/watch/watch.h"

#ifdef ABSL_HAVE_EXCEPTIONS

namespace rouse {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string PanicOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const PanicError& panic) {
    return panic.what();
  }
  return "no panic";
}

auto SaysMovedFrom(const char* name) {
  return AllOf(HasSubstr(name), HasSubstr("moved from"));
}

// The moved-from ends are used on purpose.
// NOLINTBEGIN(bugprone-use-after-move)

TEST(MovedFrom, MpscPanics) {
  auto [tx, rx] = mpsc::Channel<int>(4);
  auto weak = tx.Downgrade();
  const auto tx_now = std::move(tx);
  const auto rx_now = std::move(rx);
  const auto weak_now = std::move(weak);
  auto& sender = tx;
  auto& receiver = rx;
  int value = 1;
  EXPECT_THAT(PanicOf([&] { (void)sender.TrySend(value); }),
              SaysMovedFrom("mpsc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Send(1); }),
              SaysMovedFrom("mpsc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Reserve(); }),
              SaysMovedFrom("mpsc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.IsClosed(); }),
              SaysMovedFrom("mpsc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Closed(); }),
              SaysMovedFrom("mpsc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Downgrade(); }),
              SaysMovedFrom("mpsc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)weak.Upgrade(); }),
              SaysMovedFrom("mpsc::WeakSender"));
  EXPECT_THAT(PanicOf([&] { (void)receiver.Receive(); }),
              SaysMovedFrom("mpsc::Receiver"));
  EXPECT_THAT(PanicOf([&] { (void)receiver.TryReceive(); }),
              SaysMovedFrom("mpsc::Receiver"));
  EXPECT_THAT(PanicOf([&] { receiver.Close(); }),
              SaysMovedFrom("mpsc::Receiver"));
}

TEST(MovedFrom, MpscUnboundedPanics) {
  auto [tx, rx] = mpsc::UnboundedChannel<int>();
  const auto tx_now = std::move(tx);
  auto& sender = tx;
  EXPECT_THAT(PanicOf([&] { (void)sender.Send(1); }),
              SaysMovedFrom("mpsc::Sender"));
}

TEST(MovedFrom, MpmcPanics) {
  auto [tx, rx] = mpmc::Channel<int>(4);
  auto weak = tx.Downgrade();
  const auto tx_now = std::move(tx);
  const auto rx_now = std::move(rx);
  const auto weak_now = std::move(weak);
  auto& sender = tx;
  auto& receiver = rx;
  int value = 1;
  EXPECT_THAT(PanicOf([&] { (void)sender.TrySend(value); }),
              SaysMovedFrom("mpmc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Send(1); }),
              SaysMovedFrom("mpmc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.IsClosed(); }),
              SaysMovedFrom("mpmc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Closed(); }),
              SaysMovedFrom("mpmc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Downgrade(); }),
              SaysMovedFrom("mpmc::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)weak.Upgrade(); }),
              SaysMovedFrom("mpmc::WeakSender"));
  EXPECT_THAT(PanicOf([&] { (void)receiver.Receive(); }),
              SaysMovedFrom("mpmc::Receiver"));
  EXPECT_THAT(PanicOf([&] { (void)receiver.TryReceive(); }),
              SaysMovedFrom("mpmc::Receiver"));
  EXPECT_THAT(PanicOf([&] { receiver.Close(); }),
              SaysMovedFrom("mpmc::Receiver"));
}

TEST(MovedFrom, WatchPanics) {
  auto [tx, rx] = watch::Channel<int>(1);
  const auto tx_now = std::move(tx);
  const auto rx_now = std::move(rx);
  auto& sender = tx;
  auto& receiver = rx;
  EXPECT_THAT(PanicOf([&] { (void)sender.Send(1); }),
              SaysMovedFrom("watch::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Borrow(); }),
              SaysMovedFrom("watch::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Subscribe(); }),
              SaysMovedFrom("watch::Sender"));
  EXPECT_THAT(PanicOf([&] { const auto copy = sender; }),
              SaysMovedFrom("watch::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)sender.Closed(); }),
              SaysMovedFrom("watch::Sender"));
  EXPECT_THAT(PanicOf([&] { (void)receiver.Borrow(); }),
              SaysMovedFrom("watch::Receiver"));
  EXPECT_THAT(PanicOf([&] { (void)receiver.HasChanged(); }),
              SaysMovedFrom("watch::Receiver"));
  EXPECT_THAT(PanicOf([&] { const auto copy = receiver; }),
              SaysMovedFrom("watch::Receiver"));
}

TEST(MovedFrom, BroadcastPanics) {
  broadcast::Sender<int> tx(4);
  broadcast::Receiver<int> rx = tx.Subscribe();
  const auto tx_now = std::move(tx);
  const auto rx_now = std::move(rx);
  EXPECT_THAT(PanicOf([&] { (void)tx.Send(1); }), SaysMovedFrom("broadcast"));
  EXPECT_THAT(PanicOf([&] { (void)tx.Closed(); }), SaysMovedFrom("broadcast"));
  EXPECT_THAT(PanicOf([&] { (void)tx.Subscribe(); }),
              SaysMovedFrom("broadcast"));
  EXPECT_THAT(PanicOf([&] { (void)rx.TryReceive(); }),
              SaysMovedFrom("broadcast"));
  EXPECT_THAT(PanicOf([&] { (void)rx.IsClosed(); }),
              SaysMovedFrom("broadcast"));
}

// Its ends are used up by a value, too, and say so.
TEST(MovedFrom, OneshotPanics) {
  auto [tx, rx] = oneshot::Channel<int>();
  const auto tx_now = std::move(tx);
  auto& sender = tx;
  EXPECT_THAT(PanicOf([&] { (void)std::move(sender).Send(1); }),
              HasSubstr("oneshot"));
}

// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace rouse

#endif  // ABSL_HAVE_EXCEPTIONS
