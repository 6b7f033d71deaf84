// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: service.h
// -----------------------------------------------------------------------------
//
// What the four programs have in common: a server of Rouse, which does not know
// in which loop it runs.

#ifndef ROUSE_EXAMPLES_RUNTIME_IN_LOOP_SERVICE_H_
#define ROUSE_EXAMPLES_RUNTIME_IN_LOOP_SERVICE_H_

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/rouse.h"

namespace example {

// Returns each byte to the client that has sent it, after 1 ms. A byte 'q' ends
// the server.
inline rouse::Co<> Answer(rouse::TcpStream stream, int& bytes,
                          rouse::CancellationToken quit) {
  char buffer[4096];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(buffer));
    if (!size.ok() || *size == 0) co_return;
    const std::string_view data(buffer, *size);
    (void)co_await rouse::Sleep(absl::Milliseconds(1));
    const absl::Status written = co_await stream.WriteAll(data);
    if (!written.ok()) co_return;
    bytes += static_cast<int>(data.size());
    if (data.find('q') != data.npos) quit.Cancel();
  }
}

inline rouse::Co<absl::Status> Accept(rouse::TcpListener listener, int& bytes,
                                      rouse::CancellationToken quit) {
  for (;;) {
    rouse::TcpListener::Accepted accepted =
        co_await rouse::OrReturn(listener.Accept());
    rouse::Spawn(Answer(std::move(accepted.stream), bytes, quit)).Detach();
  }
}

// Serves on a port that the system chooses, until a client sends 'q', and then
// calls `at_end`. Tasks and loop share a thread: `bytes` needs no lock.
inline rouse::Co<> Serve(int& bytes, std::function<void()> at_end) {
  absl::StatusOr<rouse::TcpListener> listener =
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
  if (!listener.ok()) {
    fprintf(stderr, "cannot listen: %s\n",
            listener.status().ToString().c_str());
    exit(1);
  }
  printf("listening on %s\n", listener->local_addr()->ToString().c_str());
  fflush(stdout);
  const rouse::CancellationToken quit;
  auto accept =
      quit.RunUntilCancelled(Accept(*std::move(listener), bytes, quit));
  (void)co_await std::move(accept);
  at_end();
}

// Makes the runtime for a loop, or ends the program.
inline rouse::Runtime MakeRuntime() {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  if (!runtime.ok()) {
    fprintf(stderr, "%s\n", runtime.status().ToString().c_str());
    exit(1);
  }
  return *std::move(runtime);
}

// Reports what the tasks and the loop have done. `ticks` counts the events of a
// timer of the loop.
inline void Report(int bytes, int ticks) {
  printf("the tasks have answered %d bytes, and the loop has ticked %d times\n",
         bytes, ticks);
}

}  // namespace example

#endif  // ROUSE_EXAMPLES_RUNTIME_IN_LOOP_SERVICE_H_
