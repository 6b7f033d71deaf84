// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// rouse_stream PORT [ct | mt WORKERS]: serves on 127.0.0.1 until the process is
// killed. The first byte of a connection says what the server does, as in the
// peers' programs (peers/):
//
//   s   writes blocks of 64 KiB until the client closes
//   r   reads into a buffer of 64 KiB until the client closes
//   e   sends the byte back and closes

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/benchmarks/server.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace {

constexpr size_t kBlock = size_t{64} * 1024;
const char kZeros[kBlock] = {};

rouse::Co<> Source(const rouse::TcpStream& stream) {
  for (;;) {
    const absl::Status written =
        co_await stream.WriteAll(std::string_view(kZeros, kBlock));
    if (!written.ok()) co_return;
  }
}

rouse::Co<> Sink(const rouse::TcpStream& stream) {
  const auto buffer = std::make_unique<char[]>(kBlock);
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(buffer.get(), kBlock));
    if (!size.ok() || *size == 0) co_return;
  }
}

rouse::Co<> Serve(rouse::TcpStream stream) {
  char mode;
  const absl::StatusOr<size_t> size =
      co_await stream.Read(absl::MakeSpan(&mode, 1));
  if (!size.ok() || *size == 0) co_return;
  switch (mode) {
    case 's':
      co_await Source(stream);
      break;
    case 'r':
      co_await Sink(stream);
      break;
    case 'e':
      // The only possible error is that the client has closed the connection.
      (co_await stream.WriteAll(std::string_view(&mode, 1))).IgnoreError();
      break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return rouse::bench::RunServer(argc, argv, &Serve);
}
