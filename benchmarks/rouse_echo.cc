// rouse_echo PORT [ct | mt WORKERS]: echoes on 127.0.0.1 until it is killed. A
// task and a buffer of 1 KiB for each connection, as the peers' servers have.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"

namespace {

rouse::Co<> Echo(rouse::TcpStream stream) {
  char buffer[1024];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(buffer));
    if (!size.ok() || *size == 0) co_return;
    const absl::Status written =
        co_await stream.WriteAll(std::string_view(buffer, *size));
    if (!written.ok()) co_return;
  }
}

rouse::Co<absl::Status> Serve(uint16_t port) {
  const rouse::TcpListener listener = co_await rouse::OrReturn(
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(port)));
  for (;;) {
    rouse::TcpListener::Accepted accepted =
        co_await rouse::OrReturn(listener.Accept());
    co_await rouse::OrReturn(accepted.stream.SetNoDelay(true));
    rouse::Spawn(Echo(std::move(accepted.stream)));
  }
}

int Usage() {
  fputs("usage: rouse_echo PORT [ct | mt WORKERS]\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t port = 0;
  if (argc < 2 || !absl::SimpleAtoi(argv[1], &port) || port > 65535) {
    return Usage();
  }
  const std::string_view kind = argc > 2 ? argv[2] : "ct";
  size_t workers = 1;
  if ((kind != "ct" && kind != "mt") ||
      (argc > 3 && !absl::SimpleAtoi(argv[3], &workers))) {
    return Usage();
  }
  absl::StatusOr<rouse::Runtime> runtime =
      kind == "ct"
          ? rouse::Builder::CurrentThread().Build()
          : rouse::Builder::MultiThread().WorkerThreads(workers).Build();
  absl::Status status = runtime.status();
  if (runtime.ok()) {
    rouse::Co<absl::Status> serve = Serve(static_cast<uint16_t>(port));
    status = kind == "ct" ? runtime->BlockOn(std::move(serve))
                          : runtime->BlockOn(runtime->Spawn(std::move(serve)));
  }
  fprintf(stderr, "rouse_echo: %s\n", status.ToString().c_str());
  return 1;
}
