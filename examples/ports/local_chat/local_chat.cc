// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A chat server on one thread, on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/ports/local_chat -- --port=7778

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "examples/ports/local_chat/lobby.h"
#include "rouse/future/select_loop.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 7778, "The port; 0 lets the system choose.");

namespace {

using absl::StrCat;
using rouse::Co;
using rouse::OrReturn;

using Client = rouse::Framed<rouse::TcpStream, rouse::LineCodec>;

constexpr std::string_view kHelp =
    "* /nick NAME, /join ROOM, /who, /quit; any other line is for the room";

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 20 &&
         absl::c_all_of(name, [](char c) { return absl::ascii_isalnum(c); });
}

// Closes the connection of a client that reads nothing for too long.
rouse::Timeout<Client::SendFuture> Send(Client& client, std::string line) {
  return rouse::Timeout(absl::Minutes(1), client.Send(std::move(line)));
}

// Executes a line of a member. Returns the answer, which is empty if there is
// none, or nothing if the member wants to leave.
std::optional<std::string> Execute(Lobby& lobby, Lobby::Id me,
                                   std::string line) {
  if (!absl::StartsWith(line, "/")) {
    // Control characters could confuse the terminals of the others.
    absl::c_replace_if(
        line, [](char c) { return absl::ascii_iscntrl(c); }, '?');
    lobby.Say(me, line);
    return "";
  }
  std::string_view word = line;
  if (word == "/quit") return std::nullopt;
  if (word == "/who") return StrCat("* ", absl::StrJoin(lobby.Who(me), " "));
  if (absl::ConsumePrefix(&word, "/nick ")) {
    if (!IsName(word)) return "* a name has 1 to 20 letters or digits";
    if (!lobby.Rename(me, std::string(word))) return "* the name is taken";
    return StrCat("* you are ", word);
  }
  if (absl::ConsumePrefix(&word, "/join ")) {
    if (!IsName(word)) return "* a room has 1 to 20 letters or digits";
    lobby.Move(me, std::string(word));
    return StrCat("* you are in ", word);
  }
  return std::string(kHelp);
}

// Passes lines from the client to the lobby and back, until the client leaves.
Co<absl::Status> Talk(Client& client, std::shared_ptr<Lobby> lobby) {
  Lobby::Entered me = lobby->Enter();
  // Runs even if the coroutine is cancelled.
  const absl::Cleanup leave = [&] { lobby->Leave(me.id); };
  co_await OrReturn(Send(client, StrCat("* hello ", lobby->NameOf(me.id))));
  auto read = [&client] { return rouse::Next(client); };
  auto on_line = [&](std::optional<absl::StatusOr<std::string>> line)
      -> Co<rouse::Flow<absl::Status>> {
    if (!line.has_value()) co_return rouse::Break(absl::OkStatus());
    std::optional<std::string> answer;
    if (absl::IsResourceExhausted(line->status()) ||
        (line->ok() && (*line)->size() > 1000)) {
      answer = "* a line has at most 1000 bytes";
    } else if (!line->ok()) {
      co_return rouse::Break(line->status());
    } else {
      answer = Execute(*lobby, me.id, **std::move(line));
    }
    if (!answer.has_value()) co_return rouse::Break(absl::OkStatus());
    if (answer->empty()) co_return rouse::Continue();
    const absl::Status sent = co_await Send(client, *std::move(answer));
    if (!sent.ok()) co_return rouse::Break(sent);
    co_return rouse::Continue();
  };
  auto receive = [&me] { return me.inbox.Receive(); };
  auto on_message =
      [&](std::optional<std::string> message) -> Co<rouse::Flow<absl::Status>> {
    if (!message.has_value()) {
      co_return rouse::Break(absl::ResourceExhaustedError(
          "* you read too slowly, and are disconnected"));
    }
    const absl::Status sent = co_await Send(client, *std::move(message));
    if (!sent.ok()) co_return rouse::Break(sent);
    co_return rouse::Continue();
  };
  auto loop = rouse::SelectLoop(rouse::On(read, on_line),
                                rouse::On(receive, on_message));
  const absl::Status end = co_await loop;
  if (absl::IsResourceExhausted(end)) {
    co_await OrReturn(Send(client, std::string(end.message())));
  }
  co_return end;
}

Co<> Serve(rouse::TcpStream stream, std::shared_ptr<Lobby> lobby,
           rouse::CancellationToken stop) {
  // The codec also limits what is sent: up to 1000 bytes after a name.
  Client client(std::move(stream), rouse::LineCodec(1024));
  const auto end =
      co_await stop.RunUntilCancelled(Talk(client, std::move(lobby)));
  if (!end.has_value()) (void)co_await Send(client, "* the server ends");
}

// Accepts clients. Each gets a task of the set, on this thread.
Co<absl::Status> Accept(rouse::TcpListener listener,
                        std::shared_ptr<Lobby> lobby,
                        rouse::CancellationToken stop) {
  for (;;) {
    auto accepted = co_await listener.Accept();
    if (absl::IsResourceExhausted(accepted.status())) {
      // No descriptor is free. Clients that leave will free some.
      LOG_EVERY_N_SEC(ERROR, 1) << "cannot accept: " << accepted.status();
      co_await rouse::Sleep(absl::Milliseconds(50));
      continue;
    }
    co_await OrReturn(accepted.status());
    rouse::SpawnLocal(Serve(std::move(accepted->stream), lobby, stop)).Detach();
  }
}

Co<absl::Status> Main(std::shared_ptr<Lobby> lobby) {
  const auto addr = rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port));
  auto listener = co_await OrReturn(rouse::TcpListener::Bind(addr));
  absl::PrintF("local_chat: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  rouse::CancellationToken stop;
  // The tasks of the clients, which never leave the thread.
  rouse::LocalSet clients;
  auto accept =
      clients.RunUntil(Accept(std::move(listener), std::move(lobby), stop));
  co_await OrReturn(rouse::Race(std::move(accept), rouse::ShutdownSignal()));
  stop.Cancel();
  // The set is a future of the end of its tasks.
  (void)co_await rouse::Timeout(absl::Seconds(5), clients);
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "local_chat: unexpected argument; see --help\n");
    return 1;
  }
  auto lobby = std::make_shared<Lobby>();
  // A current-thread runtime has no other threads, so that `Main()` stays on
  // this thread, and so may its `LocalSet`.
  const int status =
      rouse::RunMain(Main(lobby), rouse::Builder::CurrentThread());
  if (status != 0) return status;
  absl::PrintF("local_chat: relayed %d lines\n", lobby->relayed());
}
