// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: echo_fixture.h
// -----------------------------------------------------------------------------
//
// A server of echo.proto in the test's process, on a port of 127.0.0.1, and a
// client. A test sets the methods that it calls:
//
//   TEST_F(EchoTest, Answers) {
//     service().once = [&](auto* context, const echo::Text* request,
//                          echo::Text* response) {
//       return ServeUnary(handle(), context, Answer(*request, *response));
//     };
//     auto call = Call(stub(), &Async::Once, MakeText("hello"));
//     absl::StatusOr<echo::Text> text = BlockOn(std::move(call));
//   }

#ifndef ROUSE_GRPC_ECHO_FIXTURE_H_
#define ROUSE_GRPC_ECHO_FIXTURE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "echo.grpc.pb.h"
#include "echo.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "gtest/gtest.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/timer/sleep.h"

namespace rouse::rpc {

using Async = class echo::Echo::Stub::async;

// The service, whose methods a test sets. A method that is not set answers
// kUnimplemented.
class EchoService final : public echo::Echo::CallbackService {
 public:
  using Context = ::grpc::CallbackServerContext;

  std::function<::grpc::ServerUnaryReactor*(Context*, const echo::Text*,
                                            echo::Text*)>
      once;
  std::function<::grpc::ServerWriteReactor<echo::Text>*(Context*,
                                                        const echo::Text*)>
      repeat;
  std::function<::grpc::ServerReadReactor<echo::Text>*(Context*, echo::Text*)>
      concat;
  std::function<::grpc::ServerBidiReactor<echo::Text, echo::Text>*(Context*)>
      chat;

  ::grpc::ServerUnaryReactor* Once(Context* context, const echo::Text* request,
                                   echo::Text* response) override {
    return once == nullptr ? nullptr : once(context, request, response);
  }
  ::grpc::ServerWriteReactor<echo::Text>* Repeat(
      Context* context, const echo::Text* request) override {
    return repeat == nullptr ? nullptr : repeat(context, request);
  }
  ::grpc::ServerReadReactor<echo::Text>* Concat(Context* context,
                                                echo::Text* response) override {
    return concat == nullptr ? nullptr : concat(context, response);
  }
  ::grpc::ServerBidiReactor<echo::Text, echo::Text>* Chat(
      Context* context) override {
    return chat == nullptr ? nullptr : chat(context);
  }
};

// Notifies when it is destroyed. A handler has it as a parameter or a variable.
class Gone {
 public:
  explicit Gone(absl::Notification* gone) : gone_(gone) {}
  Gone(Gone&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
  Gone& operator=(Gone&&) = delete;
  ~Gone() {
    if (gone_ != nullptr) gone_->Notify();
  }

 private:
  absl::Notification* gone_;
};

inline echo::Text MakeText(std::string_view text, int number = 0) {
  echo::Text result;
  result.set_text(std::string(text));
  result.set_number(number);
  return result;
}

class EchoTest : public ::testing::Test {
 protected:
  EchoTest() {
    int port = 0;
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = echo::Echo::NewStub(
        ::grpc::CreateChannel(absl::StrCat("127.0.0.1:", port),
                              ::grpc::InsecureChannelCredentials()));
  }

  // Before the members of a derived fixture are destroyed, because handlers can
  // use the members.
  void TearDown() override { Shutdown(); }

  // Cancels the calls under way, and waits for their end.
  void Shutdown() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

  EchoService& service() { return service_; }
  echo::Echo::Stub& stub() { return *stub_; }
  const Handle& handle() const { return runtime_->handle(); }

  // Runs a future on the test's thread.
  template <class F>
  auto BlockOn(F&& future) {
    return runtime_->BlockOn(std::forward<F>(future));
  }

  // Waits until `n` has not changed for 100 ms. Returns `n`.
  int Settled(const std::atomic<int>& n) {
    int settled = -1;
    while (settled != n) {
      settled = n;
      BlockOn(Sleep(absl::Milliseconds(100)));
    }
    return settled;
  }

  // Shuts the runtime down before the server.
  void EndRuntime() { runtime_.reset(); }

 private:
  std::optional<Runtime> runtime_ =
      Builder::MultiThread().WorkerThreads(2).Build().value();
  EchoService service_;
  std::unique_ptr<::grpc::Server> server_;
  std::unique_ptr<echo::Echo::Stub> stub_;
};

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_ECHO_FIXTURE_H_
