// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pipes stand for slow files: a read waits until the test writes.

#include "rouse/fs/uring/queue.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/file.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::fs::uring::internal {
namespace {

using ::absl_testing::StatusIs;

class QueueTest : public ::testing::Test {
 protected:
  QueueTest() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader_.emplace(OwnedFd(ends[0]), "pipe");
    writer_ = OwnedFd(ends[1]);
  }

  void SetUp() override { Make(2); }

  void Make(uint32_t limit) {
    absl::StatusOr<std::shared_ptr<Queue>> queue = Queue::Create(limit);
    // The kernel has no io_uring, or forbids it.
    const absl::Status& status = queue.status();
    if (absl::IsUnimplemented(status) || absl::IsPermissionDenied(status)) {
      GTEST_SKIP() << status;
    }
    ASSERT_TRUE(status.ok()) << status;
    queue_ = *std::move(queue);
  }

  std::unique_ptr<Request> ReadByte() const {
    auto request = std::make_unique<Request>(*reader_);
    request->opcode = IORING_OP_READ;
    request->bytes.resize(1);
    request->data = request->bytes.data();
    request->size = 1;
    return request;
  }

  void WriteByte(char byte) { ASSERT_EQ(write(writer_.get(), &byte, 1), 1); }

  // Waits until a completion has come.
  void WaitForCompletion() const {
    pollfd ring = {queue_->fd(), POLLIN, 0};
    while (poll(&ring, 1, -1) != 1) ASSERT_EQ(errno, EINTR);
  }

  CountingWaker waker_;
  std::optional<File> reader_;
  OwnedFd writer_;
  std::shared_ptr<Queue> queue_;
};

// Polls without an executor.
PollResult<int> PollOf(Queue& queue, Request& request, CountingWaker& waker) {
  const Waker own = waker.NewWaker();
  Context cx(own);
  return queue.Poll(request, cx);
}

TEST_F(QueueTest, ARequestThatCannotWaitIsReadyInItsFirstPoll) {
  WriteByte('a');
  auto request = ReadByte();
  const PollResult<int> result = PollOf(*queue_, *request, waker_);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(*result, 1);
  EXPECT_EQ(request->bytes, "a");
  EXPECT_EQ(waker_.wakes(), 0);
  queue_->Drop(std::move(request));
}

TEST_F(QueueTest, ACompletionWakesTheTask) {
  auto request = ReadByte();
  EXPECT_TRUE(PollOf(*queue_, *request, waker_).IsPending());
  WriteByte('a');
  WaitForCompletion();
  queue_->Reap();
  EXPECT_EQ(waker_.wakes(), 1);
  const PollResult<int> result = PollOf(*queue_, *request, waker_);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(*result, 1);
  EXPECT_EQ(request->bytes, "a");
  queue_->Drop(std::move(request));
  EXPECT_EQ(waker_.live(), 0);
}

TEST_F(QueueTest, ARequestCanBeUsedAgain) {
  auto request = ReadByte();
  for (const char byte : {'a', 'b'}) {
    WriteByte(byte);
    const PollResult<int> result = PollOf(*queue_, *request, waker_);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(request->bytes[0], byte);
  }
  queue_->Drop(std::move(request));
}

TEST_F(QueueTest, RequestsBeyondTheLimitWaitTheirTurn) {
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 5; ++i) {
    requests.push_back(ReadByte());
    EXPECT_TRUE(PollOf(*queue_, *requests.back(), waker_).IsPending());
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(requests[i]->state,
              i < 2 ? Request::State::kSubmitted : Request::State::kWaiting);
  }
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    WriteByte(static_cast<char>('a' + i));
    WaitForCompletion();
    queue_->Reap();
    EXPECT_EQ(waker_.wakes(), i + 1);
  }
  for (auto& request : requests) {
    const PollResult<int> result = PollOf(*queue_, *request, waker_);
    ASSERT_TRUE(result.IsReady());
    bytes += request->bytes;
    queue_->Drop(std::move(request));
  }
  EXPECT_EQ(bytes.size(), 5u);
  EXPECT_EQ(bytes.find_first_not_of("abcde"), std::string::npos);
}

TEST_F(QueueTest, ADroppedRequestMakesRoomForTheNext) {
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(ReadByte());
    EXPECT_TRUE(PollOf(*queue_, *requests.back(), waker_).IsPending());
  }
  // One that waits, and the two that the kernel works on.
  queue_->Drop(std::move(requests[2]));
  queue_->Drop(std::move(requests[0]));
  queue_->Drop(std::move(requests[1]));
  queue_->Reap();
  while (requests[3]->state == Request::State::kWaiting) {
    WaitForCompletion();
    queue_->Reap();
  }
  WriteByte('a');
  WaitForCompletion();
  queue_->Reap();
  const PollResult<int> result = PollOf(*queue_, *requests[3], waker_);
  ASSERT_TRUE(result.IsReady());
  // The byte has not gone to a dropped request.
  EXPECT_EQ(requests[3]->bytes, "a");
  queue_->Drop(std::move(requests[3]));
}

TEST_F(QueueTest, ADroppedRequestKeepsItsFileOpenUntilItIsComplete) {
  auto request = ReadByte();
  EXPECT_TRUE(PollOf(*queue_, *request, waker_).IsPending());
  const int fd = reader_->fd();
  reader_.reset();
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  queue_->Drop(std::move(request));
  queue_.reset();
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_F(QueueTest, ManyDroppedRequests) {
  Make(64);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::unique_ptr<Request>> requests;
    for (int i = 0; i < 200; ++i) {
      requests.push_back(ReadByte());
      (void)PollOf(*queue_, *requests.back(), waker_);
    }
    for (auto& request : requests) queue_->Drop(std::move(request));
  }
  queue_->Reap();
  EXPECT_EQ(waker_.live(), 0);
}

TEST_F(QueueTest, CloseEndsAllWaits) {
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 100; ++i) {
    requests.push_back(ReadByte());
    EXPECT_TRUE(PollOf(*queue_, *requests.back(), waker_).IsPending());
  }
  queue_->Close();
  EXPECT_EQ(waker_.wakes(), 100);
  requests.push_back(ReadByte());
  for (auto& request : requests) {
    const PollResult<int> result = PollOf(*queue_, *request, waker_);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(*result, Queue::kClosed);
    queue_->Drop(std::move(request));
  }
  EXPECT_EQ(waker_.live(), 0);
}

TEST(QueueCreateTest, TheLimitMustBeInRange) {
  for (const uint32_t limit : {0u, 4097u}) {
    EXPECT_THAT(Queue::Create(limit).status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace rouse::fs::uring::internal
