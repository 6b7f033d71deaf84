// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A chat server on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/chat -- --port=7777

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "examples/chat/room.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 7777, "The port; 0 lets the system choose.");

namespace {

using absl::StrCat;
using rouse::OrReturn;

using Client = rouse::Framed<rouse::TcpStream, rouse::LineCodec>;

// Closes the connection of a client that reads nothing for too long.
rouse::Timeout<Client::SendFuture> Send(Client& client, std::string line) {
  return rouse::Timeout(absl::Minutes(1), client.Send(std::move(line)));
}

// Passes lines from the client to the room and back, until the client leaves.
rouse::Co<absl::Status> Chat(Client& client, Room& room) {
  co_await OrReturn(Send(client, "* what is your name?"));
  auto first = co_await rouse::Next(client);
  if (!first.has_value()) co_return absl::OkStatus();
  const std::string name = co_await OrReturn(*std::move(first));
  if (name.empty() || name.size() > 20 ||
      !absl::c_all_of(name, [](char c) { return absl::ascii_isalnum(c); })) {
    co_return co_await Send(client, "* a name has 1 to 20 letters or digits");
  }
  if (!room.Enter(name)) co_return co_await Send(client, "* the name is taken");
  const auto say = [&](std::string line) {
    // Fails if nobody listens, which does not matter.
    room.messages.Send(Message{name, std::move(line)}).IgnoreError();
  };
  // Runs even if the coroutine is cancelled.
  const absl::Cleanup leave = [&] {
    room.Leave(name);
    say(StrCat("* ", name, " left"));
  };
  auto messages = room.messages.Subscribe();
  say(StrCat("* ", name, " joined"));
  std::string answer = StrCat("* hello ", name);
  for (;;) {
    if (!answer.empty()) co_await OrReturn(Send(client, std::move(answer)));
    answer.clear();
    // The loser has taken nothing from the client or from the channel.
    auto event =
        co_await rouse::Select(rouse::Next(client), messages.Receive());
    if (auto* message = std::get_if<1>(&event)) {
      if (message->lagged() > 0) {
        answer = StrCat("* you missed ", message->lagged(), " messages");
      } else if ((*message)->sender != name) {
        answer = std::move((*message)->line);
      }
      continue;
    }
    auto& line = std::get<0>(event);
    if (!line.has_value()) co_return absl::OkStatus();
    if (absl::IsResourceExhausted(line->status()) ||
        (line->ok() && (*line)->size() > 1000)) {
      answer = "* a line has at most 1000 bytes";
      continue;
    }
    std::string text = co_await OrReturn(*std::move(line));
    // Control characters could confuse the terminals of the others.
    absl::c_replace_if(
        text, [](char c) { return absl::ascii_iscntrl(c); }, '?');
    ++room.relayed;
    say(StrCat(name, ": ", text));
  }
}

rouse::Co<> Serve(rouse::TcpStream stream, Room& room) {
  // The codec also limits what is sent: up to 1000 bytes after a name.
  Client client(std::move(stream), rouse::LineCodec(1024));
  const auto end = co_await room.stop.RunUntilCancelled(Chat(client, room));
  if (!end.has_value()) (void)co_await Send(client, "* the server ends");
}

rouse::Co<absl::Status> Accept(rouse::TcpListener listener, Room& room,
                               rouse::TaskTracker& clients) {
  for (;;) {
    auto accepted = co_await listener.Accept();
    if (absl::IsResourceExhausted(accepted.status())) {
      // No descriptor is free. Clients that leave will free some.
      LOG_EVERY_N_SEC(ERROR, 1) << "cannot accept: " << accepted.status();
      co_await rouse::Sleep(absl::Milliseconds(50));
      continue;
    }
    co_await OrReturn(accepted.status());
    clients.Spawn(Serve(std::move(accepted->stream), room)).Detach();
  }
}

rouse::Co<absl::Status> Main(Room& room) {
  const auto addr = rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port));
  auto listener = co_await OrReturn(rouse::TcpListener::Bind(addr));
  absl::PrintF("chat: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  rouse::TaskTracker clients;
  co_await OrReturn(rouse::Race(Accept(std::move(listener), room, clients),
                                rouse::ShutdownSignal()));
  room.stop.Cancel();
  clients.Close();
  (void)co_await rouse::Timeout(absl::Seconds(5), clients.Wait());
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "chat: unexpected argument; see --help\n");
    return 1;
  }
  Room room;  // outlives the runtime, and therefore all tasks
  const int status = rouse::RunMain(Main(room));
  if (status != 0) return status;
  absl::PrintF("chat: relayed %d messages\n", room.relayed.load());
}
