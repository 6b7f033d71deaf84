// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A server that speaks the protocol of Redis, and runs until Ctrl-C, SIGTERM or
// SHUTDOWN:
//
//   tools/bazel run -c opt //examples/mini_redis/server:mini_redis_server --
//       --address=127.0.0.1:6379 --appendonly --dir=/tmp

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/log_severity.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/log/globals.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/commands/executor.h"
#include "rouse/examples/mini_redis/server/flag_types.h"
#include "rouse/examples/mini_redis/server/server.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/examples/mini_redis/store/log_replay.h"
#include "rouse/future/co.h"
#include "rouse/future/race.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/signal/signal.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/wheel/handle.h"

ABSL_FLAG(mini_redis::Address, address, {rouse::SocketAddr::Localhost(6379)},
          "The address and port to listen on; port 0 lets the system choose.");
ABSL_FLAG(mini_redis::Threads, threads, {0},
          "The number of worker threads; 0 means one for each processor.");
ABSL_FLAG(bool, appendonly, false,
          "Whether to write all changes to a log, and to read the log at the "
          "start.");
ABSL_FLAG(mini_redis::Fsync, appendfsync, mini_redis::Fsync::kEverySecond,
          "When to flush the log to the disk: always (before a change is "
          "acknowledged), everysec or no (the operating system decides).");
ABSL_FLAG(std::string, dir, ".", "The directory of the log, appendonly.aof.");
ABSL_FLAG(mini_redis::MaxClients, max_clients, {10000},
          "The largest number of clients.");
ABSL_FLAG(mini_redis::Size, output_limit, {size_t{64} << 20},
          "The largest size of the replies and messages that wait for a "
          "client; a client that reads too slowly is disconnected.");
ABSL_FLAG(mini_redis::Size, request_limit, {size_t{128} << 20},
          "The largest size of a request.");
ABSL_FLAG(mini_redis::Limit, idle_timeout, {absl::InfiniteDuration()},
          "How long a client may send nothing, or read nothing of a reply, "
          "before it is disconnected; 0 means forever.");
ABSL_FLAG(mini_redis::Limit, request_timeout, {absl::Minutes(1)},
          "How long a request may take to arrive; 0 means forever.");

namespace mini_redis {
namespace {

using ::rouse::Co;
using ::rouse::Runtime;
using ::rouse::Signal;

constexpr std::string_view kLogName = "appendonly.aof";

// How long clients may take to read their replies after a request to stop.
constexpr absl::Duration kGrace = absl::Seconds(10);

// Parses the flags. Like `absl::ParseCommandLine()`, ends the program with a
// message if a value is wrong. For other errors, returns a message that says
// what to do, which Abseil's messages do not say.
absl::Status ParseFlags(int argc, char** argv) {
  // Abseil would print two lines for a missing value.
  std::string_view last = argv[argc - 1];
  if (absl::ConsumePrefix(&last, "--")) {
    const absl::CommandLineFlag* const flag = absl::FindCommandLineFlag(last);
    if (flag != nullptr && !flag->IsOfType<bool>()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", last, " needs a value: --", last, "=..."));
    }
  }
  std::vector<char*> arguments;
  std::vector<absl::UnrecognizedFlag> unknown;
  absl::ParseAbseilFlagsOnly(argc, argv, arguments, unknown);
  if (!unknown.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown flag --", unknown[0].flag_name, "; see --help"));
  }
  if (arguments.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", arguments[1], "\"; see --help"));
  }
  return absl::OkStatus();
}

// The signals that end the server: Ctrl-C and `kill`.
struct StopSignals {
  Signal interrupt;
  Signal terminate;
};

absl::StatusOr<StopSignals> ListenForSignals() {
  absl::StatusOr<Signal> interrupt = Signal::Create(SIGINT);
  if (!interrupt.ok()) return interrupt.status();
  absl::StatusOr<Signal> terminate = Signal::Create(SIGTERM);
  if (!terminate.ok()) return terminate.status();
  return StopSignals{*std::move(interrupt), *std::move(terminate)};
}

absl::StatusOr<rouse::TcpListener> Listen() {
  absl::StatusOr<rouse::TcpListener> listener =
      rouse::TcpListener::Bind(absl::GetFlag(FLAGS_address).value);
  if (listener.ok()) return listener;
  return absl::Status(
      listener.status().code(),
      absl::StrCat(listener.status().message(), "; choose another --address"));
}

ServiceOptions OptionsFromFlags(const rouse::SocketAddr& address) {
  ServiceOptions options;
  options.max_clients = absl::GetFlag(FLAGS_max_clients).value;
  options.output_limit = absl::GetFlag(FLAGS_output_limit).bytes;
  const size_t request_limit = absl::GetFlag(FLAGS_request_limit).bytes;
  options.request_limits.max_request_size = request_limit;
  options.request_limits.max_bulk_size = request_limit;
  options.idle_timeout = absl::GetFlag(FLAGS_idle_timeout).value;
  options.request_timeout = absl::GetFlag(FLAGS_request_timeout).value;
  options.dir = absl::GetFlag(FLAGS_dir);
  options.fsync = absl::GetFlag(FLAGS_appendfsync);
  options.port = address.port();
  return options;
}

// Makes the service, and replays the log if there is one.
absl::StatusOr<std::shared_ptr<Service>> MakeService(
    const rouse::wheel::Handle& timer, const rouse::SocketAddr& address) {
  ServiceOptions options = OptionsFromFlags(address);
  if (!absl::GetFlag(FLAGS_appendonly)) {
    return std::make_shared<Service>(timer, std::move(options), nullptr);
  }
  const std::string path =
      (std::filesystem::path(options.dir) / kLogName).string();
  absl::StatusOr<std::shared_ptr<DiskLogFile>> file = DiskLogFile::Open(path);
  if (!file.ok()) return file.status();
  auto log = std::make_unique<AppendLog>(*file, options.fsync);
  auto service =
      std::make_shared<Service>(timer, std::move(options), std::move(log));
  const absl::StatusOr<Replayed> replayed = ReplayInto(*service, **file);
  if (!replayed.ok()) return replayed.status();
  LOG(INFO) << "replayed " << replayed->commands << " commands of " << path;
  return service;
}

Co<> CancelAtSignal(StopSignals signals, rouse::CancellationToken stop) {
  // An error ends the server, too.
  (void)co_await rouse::Race(signals.interrupt.Recv(),
                             signals.terminate.Recv());
  stop.Cancel();
}

Co<absl::Status> Serve(Server server, StopSignals signals,
                       rouse::CancellationToken stop) {
  rouse::Spawn(CancelAtSignal(std::move(signals), stop)).Detach();
  co_return co_await std::move(server).Run(kGrace);
}

// What `main()` makes before the server runs.
struct Prepared {
  StopSignals signals;
  rouse::TcpListener listener;
  rouse::SocketAddr address;
  std::shared_ptr<Service> service;
};

absl::StatusOr<Prepared> Prepare(const Runtime& runtime) {
  const rouse::EnterGuard enter = runtime.Enter();
  absl::StatusOr<StopSignals> signals = ListenForSignals();
  if (!signals.ok()) return signals.status();
  absl::StatusOr<rouse::TcpListener> listener = Listen();
  if (!listener.ok()) return listener.status();
  const absl::StatusOr<rouse::SocketAddr> address = listener->local_addr();
  if (!address.ok()) return address.status();
  absl::StatusOr<std::shared_ptr<Service>> service =
      MakeService(runtime.handle().timer(), *address);
  if (!service.ok()) return service.status();
  return Prepared{*std::move(signals), *std::move(listener), *address,
                  *std::move(service)};
}

absl::Status Run(int argc, char** argv) {
  if (absl::Status status = ParseFlags(argc, argv); !status.ok()) return status;
  absl::StatusOr<Runtime> runtime =
      rouse::Builder::MultiThread()
          .WorkerThreads(absl::GetFlag(FLAGS_threads).value)
          .ThreadName("mini_redis")
          .Build();
  if (!runtime.ok()) return runtime.status();
  absl::StatusOr<Prepared> prepared = Prepare(*runtime);
  if (!prepared.ok()) return prepared.status();
  std::cout << "listening on " << prepared->address.ToString() << "\n"
            << std::flush;
  rouse::CancellationToken stop = prepared->service->stop;
  Server server(std::move(prepared->listener), prepared->service);
  // Spawns a task, so that a worker accepts the connections.
  return runtime->BlockOn(runtime->Spawn(
      Serve(std::move(server), std::move(prepared->signals), std::move(stop))));
}

}  // namespace
}  // namespace mini_redis

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "A server that speaks the protocol of Redis, see README.md.");
  absl::InitializeLog();
  absl::SetStderrThreshold(absl::LogSeverity::kInfo);
  const absl::Status status = mini_redis::Run(argc, argv);
  if (status.ok()) return EXIT_SUCCESS;
  std::cerr << "mini_redis_server: " << status.message() << "\n";
  return EXIT_FAILURE;
}
