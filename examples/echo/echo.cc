// A TCP echo server on 127.0.0.1, until Ctrl-C:
//
//   tools/bazel run -c opt //examples/echo -- --port=7777 --idle_timeout=30s

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/echo/server.h"
#include "rouse/examples/echo/shutdown_signal.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/runtime/runtime.h"

ABSL_FLAG(uint32_t, port, 7777,
          "The port to listen on, on 127.0.0.1; 0 lets the system choose.");
ABSL_FLAG(uint32_t, workers, 0,
          "How many threads serve; 0 means one for each processor.");
ABSL_FLAG(absl::Duration, idle_timeout, absl::Minutes(5),
          "How long a connection may be idle before it is closed; 0 means "
          "forever.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(10),
          "How long connections may go on after SIGINT or SIGTERM.");

namespace {

using ::rouse::echo::Connections;
using ::rouse::echo::Server;
using ::rouse::echo::ShutdownSignal;

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_port) > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--port=", absl::GetFlag(FLAGS_port), ": choose one from 0 to 65535"));
  }
  if (absl::GetFlag(FLAGS_idle_timeout) < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--idle_timeout cannot be negative");
  }
  if (absl::GetFlag(FLAGS_grace) < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--grace cannot be negative");
  }
  return absl::OkStatus();
}

absl::Status Run() {
  if (absl::Status status = CheckFlags(); !status.ok()) return status;
  absl::StatusOr<ShutdownSignal> signal = ShutdownSignal::Block();
  if (!signal.ok()) return signal.status();
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::MultiThread()
          .WorkerThreads(absl::GetFlag(FLAGS_workers))
          .ThreadName("echo")
          .Build();
  if (!runtime.ok()) return runtime.status();

  absl::Duration idle_timeout = absl::GetFlag(FLAGS_idle_timeout);
  if (idle_timeout == absl::ZeroDuration()) {
    idle_timeout = absl::InfiniteDuration();
  }
  const rouse::EnterGuard enter = runtime->Enter();
  absl::StatusOr<Server> server =
      Server::Listen(rouse::SocketAddr::Localhost(
                         static_cast<uint16_t>(absl::GetFlag(FLAGS_port))),
                     idle_timeout);
  if (!server.ok()) {
    return absl::Status(
        server.status().code(),
        absl::StrCat(server.status().message(), "; choose another --port"));
  }
  const std::shared_ptr<Connections> connections = server->connections();
  std::cout << "echo: listening on " << server->local_addr()->ToString()
            << std::endl;

  // As a task, so that connections are accepted on a worker.
  const absl::Status status =
      runtime->BlockOn(runtime->Spawn(std::move(*server).ServeUntil(
          std::move(*signal).Wait(), absl::GetFlag(FLAGS_grace))));
  std::cout << "echo: served " << connections->served()
            << " connections, echoed " << connections->bytes() << " bytes"
            << std::endl;
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("A TCP echo server on 127.0.0.1.");
  absl::ParseCommandLine(argc, argv);
  absl::InitializeLog();
  const absl::Status status = Run();
  if (status.ok()) return EXIT_SUCCESS;
  std::cerr << "echo: " << status.message() << std::endl;
  return EXIT_FAILURE;
}
