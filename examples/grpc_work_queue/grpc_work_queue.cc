// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A work queue on 127.0.0.1, its workers, and its clients, each in a process of
// its own. A worker can be killed at any moment, and no item is lost.
//
//   grpc_work_queue --port=7777 --lease=2s serve
//   grpc_work_queue --port=7777 --work=100ms work
//   grpc_work_queue --port=7777 --items=1000 add
//   grpc_work_queue --port=7777 watch

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "examples/grpc_work_queue/queue.h"
#include "examples/grpc_work_queue/service.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "rouse/grpc/call.h"
#include "rouse/rouse.h"
#include "work_queue.grpc.pb.h"
#include "work_queue.pb.h"

ABSL_FLAG(uint16_t, port, 7777,
          "The port of the server; 0 lets the system choose.");
ABSL_FLAG(absl::Duration, lease, absl::Seconds(10),
          "serve: how long a worker may work on an item.");
ABSL_FLAG(absl::Duration, work, absl::Milliseconds(100),
          "work: how long the work on an item takes.");
ABSL_FLAG(int64_t, items, 100, "add: the number of items.");

namespace {

using Async = class work_queue::WorkQueue::Stub::async;

std::unique_ptr<work_queue::WorkQueue::Stub> Connect() {
  return work_queue::WorkQueue::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", absl::GetFlag(FLAGS_port)),
                          grpc::InsecureChannelCredentials()));
}

// Ends leases that have lasted too long. Never returns.
rouse::Co<absl::Status> ExpireLeases(work_queue::Queue& queue,
                                     absl::Duration lease) {
  for (;;) {
    co_await rouse::Sleep(lease / 10);
    queue.ExpireLeases(absl::Now());
  }
}

rouse::Co<absl::Status> Serve() {
  const absl::Duration lease = absl::GetFlag(FLAGS_lease);
  if (lease <= absl::ZeroDuration()) {
    co_return absl::InvalidArgumentError("--lease must be positive");
  }
  work_queue::Queue queue(lease);
  work_queue::Service service(rouse::Handle::Current(), queue);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(
      absl::StrCat("127.0.0.1:", absl::GetFlag(FLAGS_port)),
      grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    co_return absl::UnavailableError("cannot listen; choose another --port");
  }
  printf("grpc_work_queue: listening on 127.0.0.1:%d\n", port);
  fflush(stdout);

  const absl::Status stopped =
      co_await rouse::Race(ExpireLeases(queue, lease), rouse::ShutdownSignal());
  // Waits for the calls, and cancels them after a second.
  co_await rouse::OrReturn(rouse::SpawnBlocking([&server] {
    server->Shutdown(std::chrono::system_clock::now() +
                     std::chrono::seconds(1));
  }));
  const work_queue::Counts counts = queue.counts();
  printf("grpc_work_queue: %" PRId64 " acknowledged, %" PRId64
         " waiting, %" PRId64 " returned, %" PRId64 " refused\n",
         counts.acknowledged(), counts.waiting(), counts.returned(),
         counts.refused());
  co_return stopped;
}

// Works on items until the call ends.
rouse::Co<absl::Status> WorkOnce(work_queue::WorkQueue::Stub& stub) {
  const absl::Duration work = absl::GetFlag(FLAGS_work);
  rouse::rpc::CallOptions options;
  options.WaitForReady();
  auto [reports, leases] = rouse::rpc::Call(stub, &Async::Work, options);
  work_queue::Report report;
  for (;;) {
    absl::Status sent = co_await reports.Send(report);
    std::optional<absl::StatusOr<work_queue::Lease>> lease =
        co_await rouse::Next(leases);
    if (!lease.has_value()) {
      co_return absl::UnavailableError("the server has ended the call");
    }
    if (!lease->ok()) co_return lease->status();
    printf("working on %" PRId64 "\n", (*lease)->item().id());
    fflush(stdout);
    co_await rouse::Sleep(work);
    report.set_lease_id((*lease)->lease_id());
  }
}

// Works until a signal, and calls again when a call has ended.
rouse::Co<absl::Status> WorkForEver() {
  const std::unique_ptr<work_queue::WorkQueue::Stub> stub = Connect();
  for (;;) {
    const absl::Status status = co_await WorkOnce(*stub);
    fprintf(stderr, "grpc_work_queue: the call has ended: %s\n",
            status.ToString().c_str());
    co_await rouse::Sleep(absl::Milliseconds(100));
  }
}

rouse::Co<absl::Status> Work() {
  co_return co_await rouse::Race(WorkForEver(), rouse::ShutdownSignal());
}

rouse::Co<absl::Status> Add() {
  const std::unique_ptr<work_queue::WorkQueue::Stub> stub = Connect();
  auto [items, response] = rouse::rpc::Call(*stub, &Async::Add);
  for (int64_t i = 1; i <= absl::GetFlag(FLAGS_items); ++i) {
    work_queue::Item item;
    item.set_id(i);
    // The status of the call comes from the response.
    if (absl::Status sent = co_await items.Send(std::move(item)); !sent.ok()) {
      break;
    }
  }
  absl::Status closed = co_await items.Close();
  const work_queue::Counts counts =
      co_await rouse::OrReturn(std::move(response));
  printf("grpc_work_queue: %" PRId64 " waiting\n", counts.waiting());
  co_return closed;
}

rouse::Co<absl::Status> Watch() {
  const std::unique_ptr<work_queue::WorkQueue::Stub> stub = Connect();
  rouse::rpc::ClientReader<work_queue::Counts> counts =
      rouse::rpc::Call(*stub, &Async::Watch, work_queue::WatchRequest());
  while (std::optional<absl::StatusOr<work_queue::Counts>> now =
             co_await rouse::Next(counts)) {
    if (!now->ok()) co_return now->status();
    printf("%" PRId64 " acknowledged, %" PRId64 " waiting, %" PRId64
           " leased\n",
           (*now)->acknowledged(), (*now)->waiting(), (*now)->leased());
    fflush(stdout);
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> Count() {
  const std::unique_ptr<work_queue::WorkQueue::Stub> stub = Connect();
  const work_queue::Counts counts = co_await rouse::OrReturn(rouse::rpc::Call(
      *stub, &Async::Count, work_queue::CountRequest(), absl::Seconds(5)));
  printf("%" PRId64 " acknowledged, %" PRId64 " waiting, %" PRId64
         " leased, %" PRId64 " returned, %" PRId64 " refused\n",
         counts.acknowledged(), counts.waiting(), counts.leased(),
         counts.returned(), counts.refused());
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "A work queue: serve, work, add, watch or count.");
  absl::InitializeLog();
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  const std::string_view command = arguments.size() == 2 ? arguments[1] : "";
  if (command == "serve") return rouse::RunMain(Serve());
  if (command == "work") return rouse::RunMain(Work());
  if (command == "add") return rouse::RunMain(Add());
  if (command == "watch") return rouse::RunMain(Watch());
  if (command == "count") return rouse::RunMain(Count());
  fprintf(stderr,
          "grpc_work_queue: expected one argument: serve, work, add, watch or "
          "count\n");
  return 1;
}
