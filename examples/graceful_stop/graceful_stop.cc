// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A server on 127.0.0.1 whose requests take a while. At the first Ctrl-C, the
// server accepts no more connections and finishes the requests that it works
// on, for at most --grace. At the second Ctrl-C it ends at once.
//
//   tools/bazel run -c opt //examples/graceful_stop -- --port=7777 --grace=30s

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 7777,
          "The port to listen on; 0 lets the system choose.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(30),
          "How long requests may continue after SIGINT or SIGTERM.");

namespace {

// Answers the requests of a connection. A request is a line such as "250ms":
// the time that passes between the two lines of the answer. Returns at once
// after `stop` if no request is being answered, and otherwise after the answer.
rouse::Co<absl::Status> Answer(rouse::TcpStream stream,
                               rouse::CancellationToken stop) {
  rouse::Framed connection(std::move(stream), rouse::LineCodec(64));
  for (;;) {
    // Only the wait for a request is cancelled.
    std::optional<std::optional<absl::StatusOr<std::string>>> request =
        co_await stop.RunUntilCancelled(rouse::Next(connection));
    if (!request.has_value() || !request->has_value()) {
      co_return absl::OkStatus();
    }
    std::string line = co_await rouse::OrReturn(**std::move(request));
    absl::Duration work;
    if (!absl::ParseDuration(line, &work)) {
      co_await rouse::OrReturn(connection.Send("not a duration"));
      continue;
    }
    co_await rouse::OrReturn(connection.Send("working"));
    co_await rouse::Sleep(work);
    co_await rouse::OrReturn(connection.Send("done"));
  }
}

rouse::Co<> Serve(rouse::TcpStream stream, rouse::CancellationToken stop) {
  absl::Status status = co_await Answer(std::move(stream), std::move(stop));
  if (!status.ok()) LOG(WARNING) << "a connection ended: " << status;
}

rouse::Co<absl::Status> Accept(rouse::TcpListener listener,
                               rouse::TaskTracker connections,
                               rouse::CancellationToken stop) {
  for (;;) {
    absl::StatusOr<rouse::TcpListener::Accepted> accepted =
        co_await listener.Accept();
    if (accepted.ok()) {
      connections.Spawn(Serve(std::move(accepted->stream), stop)).Detach();
    } else if (absl::IsResourceExhausted(accepted.status())) {
      // No descriptor is free. Connections that end will free some.
      co_await rouse::Sleep(absl::Milliseconds(50));
    } else {
      co_return accepted.status();
    }
  }
}

// The two signals that ask the program to end. They are kept from the start on,
// so that a second signal is not lost while the program handles the first.
class StopSignals {
 public:
  StopSignals(rouse::Signal interrupt, rouse::Signal terminate)
      : interrupt_(std::move(interrupt)), terminate_(std::move(terminate)) {}

  // Waits for the next of the signals. Returns `absl::Status`.
  auto Recv() { return rouse::Race(interrupt_.Recv(), terminate_.Recv()); }

 private:
  rouse::Signal interrupt_;
  rouse::Signal terminate_;
};

rouse::Co<absl::Status> UntilSecondSignal(StopSignals& signals) {
  co_await rouse::OrReturn(signals.Recv());
  co_return absl::CancelledError("a second signal: the server ends now");
}

rouse::Co<absl::Status> Main() {
  if (absl::GetFlag(FLAGS_grace) < absl::ZeroDuration()) {
    co_return absl::InvalidArgumentError("--grace must not be negative");
  }
  rouse::Signal interrupt = co_await rouse::OrReturn(
      rouse::Signal::Create(rouse::SignalKind::Interrupt()));
  rouse::Signal terminate = co_await rouse::OrReturn(
      rouse::Signal::Create(rouse::SignalKind::Terminate()));
  StopSignals signals(std::move(interrupt), std::move(terminate));
  absl::StatusOr<rouse::TcpListener> listener = rouse::TcpListener::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port)));
  if (!listener.ok()) {
    co_return absl::Status(
        listener.status().code(),
        absl::StrCat(listener.status().message(), "; choose another --port"));
  }
  printf("graceful_stop: listening on %s\n",
         listener->local_addr()->ToString().c_str());
  fflush(stdout);

  rouse::TaskTracker connections;
  rouse::CancellationToken stop;
  // The first signal cancels Accept(), which closes the listener.
  co_await rouse::OrReturn(rouse::Race(
      Accept(*std::move(listener), connections, stop), signals.Recv()));
  printf("graceful_stop: ending %zu connections; again to end now\n",
         connections.size());
  fflush(stdout);
  stop.Cancel();
  connections.Close();
  // What is left after the grace, or at the second signal, ends with the
  // runtime.
  co_return co_await rouse::Race(
      rouse::Timeout(absl::GetFlag(FLAGS_grace), connections.Wait()),
      UntilSecondSignal(signals));
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("A server on 127.0.0.1 that ends in order.");
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    fprintf(stderr,
            "graceful_stop: unexpected argument; all options are flags, see "
            "--help\n");
    return 1;
  }
  return rouse::RunMain(Main());
}
