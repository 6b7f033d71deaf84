// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests unary calls, from call.h to serve.h.

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "echo.grpc.pb.h"
#include "echo.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/string_ref.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/grpc/call.h"
#include "rouse/grpc/call_options.h"
#include "rouse/grpc/echo_fixture.h"
#include "rouse/grpc/serve.h"
#include "rouse/grpc/status.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/timer/sleep.h"

namespace rouse::rpc {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

Co<absl::Status> Answer(const echo::Text& request, echo::Text& response) {
  response.set_text(request.text() + "!");
  co_return absl::OkStatus();
}

// Never ready; `gone` is destroyed with the coroutine.
Co<absl::Status> Wait(absl::Notification* begun, [[maybe_unused]] Gone gone) {
  begun->Notify();
  co_await Sleep(absl::InfiniteDuration());
  co_return absl::OkStatus();
}

class UnaryTest : public EchoTest {
 protected:
  UnaryTest() {
    service().once = [this](auto* context, const auto* request,
                            auto* response) {
      return ServeUnary(handle(), context, Answer(*request, *response));
    };
  }

  // Lets the method wait until the handler is destroyed.
  void AnswerNever() {
    service().once = [this](auto* context, const auto*, auto*) {
      return ServeUnary(handle(), context, Wait(&begun_, Gone(&gone_)));
    };
  }
  // Lets the method end with `status`.
  void Fail(absl::Status status) {
    service().once = [this, status](auto* context, const auto*, auto*) {
      return ServeUnary(handle(), context, Ready(status));
    };
  }

  absl::StatusOr<echo::Text> CallOnce(
      const CallOptions& options = CallOptions()) {
    return BlockOn(Call(stub(), &Async::Once, MakeText("hello"), options));
  }

  absl::Notification begun_;
  absl::Notification gone_;
};

TEST_F(UnaryTest, ReturnsTheResponse) {
  const absl::StatusOr<echo::Text> response = CallOnce();
  ASSERT_THAT(response, absl_testing::IsOk());
  EXPECT_EQ(response->text(), "hello!");
}

TEST_F(UnaryTest, NeedsNoRuntimeOnTheClient) {
  const absl::StatusOr<echo::Text> response =
      rouse::BlockOn(Call(stub(), &Async::Once, MakeText("hello")));
  ASSERT_THAT(response, absl_testing::IsOk());
  EXPECT_EQ(response->text(), "hello!");
}

TEST_F(UnaryTest, AHandlerCanBeACallable) {
  service().once = [this](auto* context, const auto* request, auto* response) {
    const auto handler = [request, response]() -> Co<absl::Status> {
      co_await Sleep(absl::Milliseconds(1));
      response->set_text(request->text() + "?");
      co_return absl::OkStatus();
    };
    return ServeUnary(handle(), context, handler);
  };
  EXPECT_EQ(CallOnce()->text(), "hello?");
}

TEST_F(UnaryTest, AStatusHasItsCodeMessageAndDetails) {
  absl::Status status = absl::FailedPreconditionError("no such thing");
  status.SetPayload(kErrorDetails, absl::Cord("details"));
  Fail(status);
  EXPECT_EQ(CallOnce().status(), status);
}

TEST_F(UnaryTest, AMethodThatIsNotServedIsUnimplemented) {
  service().once = nullptr;
  EXPECT_THAT(CallOnce(), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST_F(UnaryTest, MetadataGoesBothWays) {
  service().once = [this](auto* context, const auto*, auto* response) {
    for (const auto& [key, value] : ToMetadata(context->client_metadata())) {
      if (key == "question") response->set_text(value);
    }
    context->AddInitialMetadata("first", "1");
    context->AddTrailingMetadata("last-bin", std::string("\0\n", 2));
    const auto keep = [response,
                       text = response->text()]() -> Co<absl::Status> {
      response->set_text(text);
      co_return absl::OkStatus();
    };
    return ServeUnary(handle(), context, keep);
  };
  ReceivedMetadata received;
  CallOptions options;
  options.AddMetadata("question", "why").ReceiveMetadata(&received);
  EXPECT_EQ(CallOnce(options)->text(), "why");
  EXPECT_EQ(received.initial.count("first"), 1);
  ASSERT_EQ(received.trailing.count("last-bin"), 1);
  EXPECT_EQ(received.trailing.find("last-bin")->second, std::string("\0\n", 2));
}

TEST_F(UnaryTest, MetadataIsChecked) {
  CallOptions options;
  EXPECT_PANIC(options.AddMetadata("Question", "why"),
               "the key \"Question\" must consist of a-z, 0-9 and _-.");
  EXPECT_PANIC(options.AddMetadata("", "why"), "must consist of");
  EXPECT_PANIC(options.AddMetadata("question", "why\n"),
               "end the key in \"-bin\"");
  options.AddMetadata("question-bin", "why\n");
  EXPECT_THAT(CallOnce(options), absl_testing::IsOk());
}

TEST_F(UnaryTest, ConfigureReachesTheContext) {
  service().once = [this](auto* context, const auto*, auto* response) {
    const ::grpc::string_ref authority = context->ExperimentalGetAuthority();
    response->set_text(std::string(authority.data(), authority.size()));
    return ServeUnary(handle(), context, Ready(absl::OkStatus()));
  };
  CallOptions options;
  options.Configure([](::grpc::ClientContext& context) {
    context.set_authority("example.com");
  });
  EXPECT_EQ(CallOnce(options)->text(), "example.com");
}

TEST_F(UnaryTest, ADeadlineEndsTheCallAndTheHandler) {
  AnswerNever();
  EXPECT_THAT(CallOnce(absl::Milliseconds(50)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  if (begun_.HasBeenNotified()) gone_.WaitForNotification();
}

TEST_F(UnaryTest, TheHandlerKnowsTheDeadline) {
  absl::Time seen;
  service().once = [&](auto* context, const auto*, auto*) {
    seen = absl::FromChrono(context->deadline());
    return ServeUnary(handle(), context, Ready(absl::OkStatus()));
  };
  const absl::Time deadline = absl::Now() + absl::Hours(1);
  EXPECT_THAT(CallOnce(deadline), absl_testing::IsOk());
  EXPECT_LT(absl::AbsDuration(seen - deadline), absl::Minutes(1));
}

TEST_F(UnaryTest, AServerThatCannotBeReachedIsUnavailable) {
  // A port that nobody listens on: the server has closed it.
  Shutdown();
  EXPECT_THAT(CallOnce(), StatusIs(absl::StatusCode::kUnavailable));
  CallOptions options(absl::Milliseconds(50));
  options.WaitForReady();
  EXPECT_THAT(CallOnce(options), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(UnaryTest, AFutureThatIsNeverPolledCallsNothing) {
  AnswerNever();
  {
    auto call = Call(stub(), &Async::Once, MakeText("hello"));
  }
  Shutdown();
  EXPECT_FALSE(begun_.HasBeenNotified());
}

TEST_F(UnaryTest, AFutureCanBeMovedBeforeAndAfterItsFirstPoll) {
  absl::Notification moved;
  service().once = [&](auto* context, const auto* request, auto* response) {
    const auto handler = [&moved, request, response]() -> Co<absl::Status> {
      while (!moved.HasBeenNotified()) co_await Sleep(absl::Milliseconds(1));
      co_return co_await Answer(*request, *response);
    };
    return ServeUnary(handle(), context, handler);
  };
  auto first = Call(stub(), &Async::Once, MakeText("hello"));
  auto second = std::move(first);
  EXPECT_TRUE(PollOnce(second).IsPending());
  auto third = std::move(second);
  moved.Notify();
  EXPECT_EQ(BlockOn(std::move(third))->text(), "hello!");
}

TEST_F(UnaryTest, DestroyingAPendingFutureDestroysTheHandler) {
  AnswerNever();
  {
    auto call = Call(stub(), &Async::Once, MakeText("hello"));
    EXPECT_TRUE(PollOnce(call).IsPending());
    begun_.WaitForNotification();
  }
  gone_.WaitForNotification();
}

TEST_F(UnaryTest, DestroyingAFutureAtOnceIsSafe) {
  for (int i = 0; i < 200; ++i) {
    auto call = Call(stub(), &Async::Once, MakeText("hello"));
    static_cast<void>(PollOnce(call));  // can be ready at once
  }
  EXPECT_THAT(CallOnce(), absl_testing::IsOk());
}

// gRPC's thread then destroys the channel.
TEST_F(UnaryTest, ADroppedCallCanOutliveItsStub) {
  Shutdown();  // the server would keep gRPC's threads
  for (int i = 0; i < 100; ++i) {
    auto stub = echo::Echo::NewStub(::grpc::CreateChannel(
        "unix-abstract:rouse-nobody", ::grpc::InsecureChannelCredentials()));
    CallOptions options;
    options.WaitForReady();
    auto call = Call(*stub, &Async::Once, MakeText("hello"), options);
    EXPECT_TRUE(PollOnce(call).IsPending());
    stub.reset();
  }
}

TEST_F(UnaryTest, ATokenLeavesTheHandlerItsCleanUp) {
  absl::Notification cleaned_up;
  service().once = [&](auto* context, const auto*, auto*) {
    const auto handler = [&](CancellationToken cancelled) -> Co<absl::Status> {
      begun_.Notify();
      co_await cancelled.Cancelled();
      co_await Sleep(absl::Milliseconds(1));
      cleaned_up.Notify();
      co_return absl::OkStatus();
    };
    return ServeUnary(handle(), context, handler);
  };
  {
    auto call = Call(stub(), &Async::Once, MakeText("hello"));
    EXPECT_TRUE(PollOnce(call).IsPending());
    begun_.WaitForNotification();
  }
  cleaned_up.WaitForNotification();
  Shutdown();  // before the handler's variables are destroyed
}

TEST_F(UnaryTest, ShutdownOfTheServerCancelsTheHandlers) {
  AnswerNever();
  auto call = Call(stub(), &Async::Once, MakeText("hello"));
  EXPECT_TRUE(PollOnce(call).IsPending());
  begun_.WaitForNotification();
  Shutdown();
  EXPECT_TRUE(gone_.HasBeenNotified());
  const absl::StatusOr<echo::Text> response = BlockOn(std::move(call));
  EXPECT_FALSE(response.ok());
}

TEST_F(UnaryTest, TheEndOfTheRuntimeIsUnavailable) {
  AnswerNever();
  auto call = Call(stub(), &Async::Once, MakeText("hello"));
  EXPECT_TRUE(PollOnce(call).IsPending());
  begun_.WaitForNotification();
  EndRuntime();
  EXPECT_TRUE(gone_.HasBeenNotified());
  EXPECT_THAT(rouse::BlockOn(std::move(call)),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("the server is shutting down")));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(UnaryTest, AnExceptionOfAHandlerIsUnknown) {
  service().once = [this](auto* context, const auto*, auto*) {
    const auto handler = []() -> Co<absl::Status> {
      throw std::runtime_error("rouse");
      co_return absl::OkStatus();
    };
    return ServeUnary(handle(), context, handler);
  };
  EXPECT_THAT(CallOnce(), StatusIs(absl::StatusCode::kUnknown,
                                   HasSubstr("thrown an exception")));
}
#endif

TEST_F(UnaryTest, AThousandCallsAtOnce) {
  const auto many = [this]() -> Co<int> {
    std::vector<JoinHandle<absl::StatusOr<echo::Text>>> calls;
    for (int i = 0; i < 1000; ++i) {
      calls.push_back(rouse::Spawn(
          Call(stub(), &Async::Once, MakeText(std::to_string(i)))));
    }
    int right = 0;
    for (int i = 0; i < 1000; ++i) {
      absl::StatusOr<echo::Text> response = co_await calls[i];
      if (response.ok() && response->text() == std::to_string(i) + "!") ++right;
    }
    co_return right;
  };
  EXPECT_EQ(BlockOn(many), 1000);
}

}  // namespace
}  // namespace rouse::rpc
