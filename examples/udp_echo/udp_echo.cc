// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A UDP echo server on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/udp_echo -- --port=7777

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 7777,
          "The port to receive at; 0 lets the system choose.");

namespace {

// No datagram is larger.
constexpr size_t kMaxDatagram = 65536;

// Written only by `Echo()`, which a single task runs.
struct Counters {
  uint64_t datagrams = 0;
  uint64_t bytes = 0;
  uint64_t unanswered = 0;
};

// Sends each datagram back. Returns only if the socket can no longer receive.
rouse::Co<absl::Status> Echo(const rouse::UdpSocket& socket,
                             Counters& counters) {
  const auto buffer = std::make_unique<char[]>(kMaxDatagram);
  for (;;) {
    rouse::UdpSocket::Received received = co_await rouse::OrReturn(
        socket.RecvFrom(absl::MakeSpan(buffer.get(), kMaxDatagram)));
    const std::string_view data(buffer.get(), received.size);
    absl::StatusOr<size_t> sent = co_await socket.SendTo(data, received.peer);
    if (sent.ok()) {
      ++counters.datagrams;
      counters.bytes += *sent;
    } else {
      // A single client cannot be answered; the others can.
      ++counters.unanswered;
      LOG_EVERY_N_SEC(ERROR, 1) << "cannot answer: " << sent.status();
    }
  }
}

rouse::Co<absl::Status> Main(Counters& counters) {
  absl::StatusOr<rouse::UdpSocket> socket = rouse::UdpSocket::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port)));
  if (!socket.ok()) {
    co_return absl::Status(
        socket.status().code(),
        absl::StrCat(socket.status().message(), "; choose another --port"));
  }
  absl::PrintF("udp_echo: listening on %v\n", *socket->local_addr());
  fflush(stdout);
  // The signal cancels `Echo()` where it waits, between two datagrams.
  co_return co_await rouse::Race(Echo(*socket, counters),
                                 rouse::ShutdownSignal());
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("A UDP echo server on 127.0.0.1.");
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "udp_echo: unexpected argument; see --help\n");
    return 1;
  }
  Counters counters;
  const int status = rouse::RunMain(Main(counters));
  if (status == 0) {
    absl::PrintF("udp_echo: echoed %d datagrams, %d bytes; %d not answered\n",
                 counters.datagrams, counters.bytes, counters.unanswered);
  }
  return status;
}
