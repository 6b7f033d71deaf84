// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares calls of the adapter with gRPC's own callback API. Client and server
// are in one process, and talk over TCP on 127.0.0.1.
//
//   tools/bazel run -c opt $(tools/debian/grpc_root.sh) //grpc:rpc_benchmark

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "benchmark/benchmark.h"
#include "echo.grpc.pb.h"
#include "echo.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"
#include "rouse/future/co.h"
#include "rouse/future/stream.h"
#include "rouse/grpc/call.h"
#include "rouse/grpc/reader.h"
#include "rouse/grpc/serve.h"
#include "rouse/grpc/writer.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"

namespace rouse::rpc {
namespace {

using Async = class echo::Echo::Stub::async;
using Context = ::grpc::CallbackServerContext;

echo::Text MakeText() {
  echo::Text text;
  text.set_text("hello");
  return text;
}

// The service with gRPC's own reactors.
class GrpcService final : public echo::Echo::CallbackService {
 public:
  ::grpc::ServerUnaryReactor* Once(Context* context, const echo::Text* request,
                                   echo::Text* response) override {
    *response = *request;
    ::grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(::grpc::Status::OK);
    return reactor;
  }

  ::grpc::ServerBidiReactor<echo::Text, echo::Text>* Chat(Context*) override {
    class Reactor final
        : public ::grpc::ServerBidiReactor<echo::Text, echo::Text> {
     public:
      Reactor() { StartRead(&text_); }
      void OnReadDone(bool ok) override {
        if (ok) {
          StartWrite(&text_);
        } else {
          Finish(::grpc::Status::OK);
        }
      }
      void OnWriteDone(bool) override { StartRead(&text_); }
      void OnDone() override { delete this; }

     private:
      echo::Text text_;
    };
    return new Reactor;
  }
};

Co<absl::Status> Answer(const echo::Text& request, echo::Text& response) {
  response = request;
  co_return absl::OkStatus();
}

// The same service with tasks.
class RouseService final : public echo::Echo::CallbackService {
 public:
  explicit RouseService(Handle runtime) : runtime_(std::move(runtime)) {}

  ::grpc::ServerUnaryReactor* Once(Context* context, const echo::Text* request,
                                   echo::Text* response) override {
    return ServeUnary(runtime_, context, Answer(*request, *response));
  }

  ::grpc::ServerBidiReactor<echo::Text, echo::Text>* Chat(
      Context* context) override {
    return ServeBidiStream<echo::Text, echo::Text>(
        runtime_, context,
        [](Reader<echo::Text> reader,
           Writer<echo::Text> writer) -> Co<absl::Status> {
          for (;;) {
            auto text = co_await Next(reader);
            if (!text.has_value() || !text->ok()) co_return absl::OkStatus();
            absl::Status sent = co_await writer.Send(**std::move(text));
            if (!sent.ok()) co_return sent;
          }
        });
  }

 private:
  const Handle runtime_;
};

class Connection {
 public:
  explicit Connection(echo::Echo::CallbackService& service) {
    int port = 0;
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
    stub_ = echo::Echo::NewStub(
        ::grpc::CreateChannel(absl::StrCat("127.0.0.1:", port),
                              ::grpc::InsecureChannelCredentials()));
  }
  ~Connection() { server_->Shutdown(); }

  echo::Echo::Stub& stub() { return *stub_; }

 private:
  std::unique_ptr<::grpc::Server> server_;
  std::unique_ptr<echo::Echo::Stub> stub_;
};

Runtime MakeRuntime() {
  return Builder::MultiThread().WorkerThreads(1).Build().value();
}

// A loop of calls with gRPC's own API: the callback begins the next call.
class GrpcLoop {
 public:
  GrpcLoop(echo::Echo::Stub& stub, int calls, std::function<void()> done)
      : stub_(stub), left_(calls), done_(std::move(done)), text_(MakeText()) {}

  void Next() {
    if (left_-- == 0) return done_();
    context_ = std::make_unique<::grpc::ClientContext>();
    stub_.async()->Once(context_.get(), &text_, &response_,
                        [this](const ::grpc::Status&) { Next(); });
  }

 private:
  echo::Echo::Stub& stub_;
  int left_;
  std::function<void()> done_;
  echo::Text text_;
  echo::Text response_;
  std::unique_ptr<::grpc::ClientContext> context_;
};

Co<> RouseLoop(echo::Echo::Stub& stub, int calls) {
  for (int i = 0; i < calls; ++i) {
    auto response = co_await Call(stub, &Async::Once, MakeText());
    benchmark::DoNotOptimize(response);
  }
}

constexpr int kCalls = 1000;

// The argument is the number of loops that call at once.
void BM_UnaryGrpc(benchmark::State& state) {
  const int loops = static_cast<int>(state.range(0));
  GrpcService service;
  Connection connection(service);
  for (auto _ : state) {
    absl::BlockingCounter done(loops);
    std::vector<std::unique_ptr<GrpcLoop>> running;
    for (int i = 0; i < loops; ++i) {
      running.push_back(std::make_unique<GrpcLoop>(
          connection.stub(), kCalls / loops, [&] { done.DecrementCount(); }));
      running.back()->Next();
    }
    done.Wait();
  }
  state.SetItemsProcessed(state.iterations() * (kCalls / loops) * loops);
}
BENCHMARK(BM_UnaryGrpc)->Arg(1)->Arg(50)->UseRealTime();

void BM_UnaryRouse(benchmark::State& state) {
  const int loops = static_cast<int>(state.range(0));
  Runtime runtime = MakeRuntime();
  RouseService service(runtime.handle());
  Connection connection(service);
  for (auto _ : state) {
    absl::BlockingCounter done(loops);
    for (int i = 0; i < loops; ++i) {
      auto loop = [&]() -> Co<> {
        co_await RouseLoop(connection.stub(), kCalls / loops);
        done.DecrementCount();
      };
      runtime.Spawn(std::move(loop)).Detach();
    }
    done.Wait();
  }
  state.SetItemsProcessed(state.iterations() * (kCalls / loops) * loops);
}
BENCHMARK(BM_UnaryRouse)->Arg(1)->Arg(50)->UseRealTime();

// A stream of gRPC's own API that sends a message when the last one is back.
class GrpcPings final
    : public ::grpc::ClientBidiReactor<echo::Text, echo::Text> {
 public:
  explicit GrpcPings(echo::Echo::Stub& stub) : text_(MakeText()) {
    stub.async()->Chat(&context_, this);
    AddHold();
    StartCall();
  }

  // Sends messages, one after another, and waits for the last one.
  void Ping(int messages) {
    left_ = messages;
    absl::Notification done;
    done_ = &done;
    Begin();
    done.WaitForNotification();
  }
  void End() {
    StartWritesDone();
    RemoveHold();
    ended_.WaitForNotification();
  }

  void OnReadDone(bool) override { EndPart(); }
  void OnWriteDone(bool) override { EndPart(); }
  void OnDone(const ::grpc::Status&) override { ended_.Notify(); }

 private:
  void Begin() {
    parts_ = 2;
    StartRead(&text_);
    StartWrite(&sent_);
  }
  // The message is back, and gRPC has taken the message.
  void EndPart() {
    if (--parts_ > 0) return;
    if (--left_ == 0) return done_->Notify();
    Begin();
  }

  ::grpc::ClientContext context_;
  const echo::Text sent_ = MakeText();
  echo::Text text_;
  std::atomic<int> parts_ = 0;
  int left_ = 0;
  absl::Notification* done_ = nullptr;
  absl::Notification ended_;
};

Co<> RousePings(BidiStream<echo::Text, echo::Text>& call, int messages) {
  for (int i = 0; i < messages; ++i) {
    absl::Status sent = co_await call.writer.Send(MakeText());
    benchmark::DoNotOptimize(sent);
    auto text = co_await Next(call.reader);
    benchmark::DoNotOptimize(text);
  }
}

void BM_StreamGrpc(benchmark::State& state) {
  GrpcService service;
  Connection connection(service);
  GrpcPings pings(connection.stub());
  for (auto _ : state) pings.Ping(kCalls);
  pings.End();
  state.SetItemsProcessed(state.iterations() * kCalls);
}
BENCHMARK(BM_StreamGrpc)->UseRealTime();

void BM_StreamRouse(benchmark::State& state) {
  Runtime runtime = MakeRuntime();
  RouseService service(runtime.handle());
  Connection connection(service);
  BidiStream<echo::Text, echo::Text> call =
      Call(connection.stub(), &Async::Chat);
  for (auto _ : state) {
    absl::Notification done;
    auto loop = [&]() -> Co<> {
      co_await RousePings(call, kCalls);
      done.Notify();
    };
    runtime.Spawn(std::move(loop)).Detach();
    done.WaitForNotification();
  }
  state.SetItemsProcessed(state.iterations() * kCalls);
}
BENCHMARK(BM_StreamRouse)->UseRealTime();

constexpr int kStreams = 1000;

// Bytes of the heap for an open stream that has sent a message each way: the
// client's part and the server's part together.
void BM_OpenStreamGrpc(benchmark::State& state) {
  GrpcService service;
  Connection connection(service);
  GrpcPings(connection.stub()).End();
  for (auto _ : state) {
    const size_t before = mallinfo2().uordblks;
    std::vector<std::unique_ptr<GrpcPings>> streams;
    for (int i = 0; i < kStreams; ++i) {
      streams.push_back(std::make_unique<GrpcPings>(connection.stub()));
      streams.back()->Ping(1);
    }
    state.counters["bytes"] =
        static_cast<double>(mallinfo2().uordblks - before) / kStreams;
    for (auto& stream : streams) stream->End();
  }
}
BENCHMARK(BM_OpenStreamGrpc)->Iterations(1);

void BM_OpenStreamRouse(benchmark::State& state) {
  Runtime runtime = MakeRuntime();
  RouseService service(runtime.handle());
  Connection connection(service);
  {
    auto first = Call(connection.stub(), &Async::Chat);
    runtime.BlockOn(RousePings(first, 1));
  }
  for (auto _ : state) {
    const size_t before = mallinfo2().uordblks;
    std::vector<BidiStream<echo::Text, echo::Text>> streams;
    for (int i = 0; i < kStreams; ++i) {
      streams.push_back(Call(connection.stub(), &Async::Chat));
      runtime.BlockOn(RousePings(streams.back(), 1));
    }
    state.counters["bytes"] =
        static_cast<double>(mallinfo2().uordblks - before) / kStreams;
  }
}
BENCHMARK(BM_OpenStreamRouse)->Iterations(1);

}  // namespace
}  // namespace rouse::rpc
