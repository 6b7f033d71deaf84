// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TCP echo server on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/echo -- --port=7777 --idle_timeout=30s

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "rouse/examples/echo/flag_types.h"
#include "rouse/examples/echo/server.h"
#include "rouse/future/co.h"
#include "rouse/future/race.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/signal/signal.h"
#include "rouse/sync/cancellation_token.h"

ABSL_FLAG(rouse::echo::Number<65535>, port, {7777},
          "The port to listen on, on 127.0.0.1; 0 lets the system choose.");
ABSL_FLAG(rouse::echo::Number<1024>, workers, {0},
          "The number of worker threads; 0 means one for each processor.");
ABSL_FLAG(rouse::echo::Wait, idle_timeout, {absl::Minutes(5)},
          "How long a connection may be idle before it is closed; 0 means "
          "forever.");
ABSL_FLAG(rouse::echo::Wait, grace, {absl::Seconds(10)},
          "How long connections may continue after SIGINT or SIGTERM.");

namespace {

using ::rouse::Co;
using ::rouse::Runtime;
using ::rouse::Signal;
using ::rouse::echo::Server;
using ::rouse::echo::Totals;

// Parses the flags. Like `absl::ParseCommandLine()`, ends the program with a
// message if a value is wrong. For other errors, returns a message that says
// what to do, which Abseil's messages do not say.
absl::Status ParseFlags(int argc, char** argv) {
  // Abseil would print two lines for a missing value.
  std::string_view last = argv[argc - 1];
  if (absl::ConsumePrefix(&last, "--") &&
      absl::FindCommandLineFlag(last) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", last, " needs a value: --", last, "=..."));
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

absl::StatusOr<StopSignals> ListenForSignals(const Runtime& runtime) {
  const rouse::EnterGuard enter = runtime.Enter();
  absl::StatusOr<Signal> interrupt = Signal::Create(SIGINT);
  if (!interrupt.ok()) return interrupt.status();
  absl::StatusOr<Signal> terminate = Signal::Create(SIGTERM);
  if (!terminate.ok()) return terminate.status();
  return StopSignals{*std::move(interrupt), *std::move(terminate)};
}

absl::StatusOr<Server> Listen(const Runtime& runtime) {
  absl::Duration idle_timeout = absl::GetFlag(FLAGS_idle_timeout).value;
  if (idle_timeout == absl::ZeroDuration()) {
    idle_timeout = absl::InfiniteDuration();
  }
  const rouse::EnterGuard enter = runtime.Enter();
  absl::StatusOr<Server> server = Server::Listen(
      rouse::SocketAddr::Localhost(
          static_cast<uint16_t>(absl::GetFlag(FLAGS_port).value)),
      idle_timeout);
  if (server.ok()) return server;
  return absl::Status(
      server.status().code(),
      absl::StrCat(server.status().message(), "; choose another --port"));
}

Co<> CancelAtSignal(StopSignals signals, rouse::CancellationToken stop) {
  // An error ends the server, too.
  (void)co_await rouse::Race(signals.interrupt.Recv(),
                             signals.terminate.Recv());
  stop.Cancel();
}

Co<absl::Status> Serve(Server server, StopSignals signals) {
  rouse::CancellationToken stop;
  rouse::Spawn(CancelAtSignal(std::move(signals), stop)).Detach();
  co_return co_await std::move(server).Run(stop,
                                           absl::GetFlag(FLAGS_grace).value);
}

// Runs the server. All connections have ended when this returns, because the
// end of the runtime ends the connections that outlast the grace.
absl::Status ServeOn(Runtime runtime, Server server, StopSignals signals) {
  // Spawns a task, so that a worker accepts the connections.
  return runtime.BlockOn(
      runtime.Spawn(Serve(std::move(server), std::move(signals))));
}

absl::Status Run(int argc, char** argv) {
  if (absl::Status status = ParseFlags(argc, argv); !status.ok()) return status;
  absl::StatusOr<Runtime> runtime =
      rouse::Builder::MultiThread()
          .WorkerThreads(absl::GetFlag(FLAGS_workers).value)
          .ThreadName("echo")
          .Build();
  if (!runtime.ok()) return runtime.status();
  absl::StatusOr<StopSignals> signals = ListenForSignals(*runtime);
  if (!signals.ok()) return signals.status();
  absl::StatusOr<Server> server = Listen(*runtime);
  if (!server.ok()) return server.status();
  std::cout << "echo: listening on " << server->local_addr()->ToString() << "\n"
            << std::flush;

  const std::shared_ptr<Totals> totals = server->totals();
  absl::Status status =
      ServeOn(*std::move(runtime), *std::move(server), *std::move(signals));
  std::cout << "echo: served " << totals->connections()
            << " connections, echoed " << totals->bytes() << " bytes\n";
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("A TCP echo server on 127.0.0.1.");
  absl::InitializeLog();
  const absl::Status status = Run(argc, argv);
  if (status.ok()) return EXIT_SUCCESS;
  std::cerr << "echo: " << status.message() << "\n";
  return EXIT_FAILURE;
}
