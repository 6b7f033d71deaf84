// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Typical mistakes of a first use of net/. Compiled by rouse_cc_nc_test, one
// case at a time.

#include <string>

#include "absl/types/span.h"
#include "rouse/io/copy.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/split.h"
#include "rouse/net/tcp/tcp_stream.h"

namespace rouse {
namespace {

// Compiles: each case differs from this function only by its mistake.
[[maybe_unused]] auto Fine(const TcpStream& stream, std::string& buffer) {
  return stream.Read(absl::MakeSpan(buffer));
}

#ifdef ROUSE_NC_CONNECT_TO_TEXT
[[maybe_unused]] auto Bad() { return TcpStream::Connect("127.0.0.1:80"); }
#endif

#ifdef ROUSE_NC_READ_INTO_STRING
[[maybe_unused]] auto Bad(const TcpStream& stream, std::string& buffer) {
  return stream.Read(buffer);
}
#endif

#ifdef ROUSE_NC_FREE_READ_INTO_STRING
[[maybe_unused]] auto Bad(const TcpStream& stream, std::string& buffer) {
  return Read(stream, buffer);
}
#endif

// Without `co_await`, nothing happens: the warning says so.
#ifdef ROUSE_NC_DISCARDED_READ
[[maybe_unused]] void Bad(const TcpStream& stream, std::string& buffer) {
  stream.Read(absl::MakeSpan(buffer));
}
#endif

#ifdef ROUSE_NC_DISCARDED_FREE_READ
[[maybe_unused]] void Bad(TcpStream& stream, std::string& buffer) {
  Read(stream, absl::MakeSpan(buffer));
}
#endif

#ifdef ROUSE_NC_DISCARDED_WRITE
[[maybe_unused]] void Bad(const TcpStream& stream) { stream.WriteAll("x"); }
#endif

#ifdef ROUSE_NC_DISCARDED_FREE_WRITE
[[maybe_unused]] void Bad(TcpStream& stream) { WriteAll(stream, "x"); }
#endif

#ifdef ROUSE_NC_DISCARDED_COPY
[[maybe_unused]] void Bad(TcpStream& from, TcpStream& to) { Copy(from, to); }
#endif

#ifdef ROUSE_NC_DISCARDED_CONNECT
[[maybe_unused]] void Bad(SocketAddr addr) { TcpStream::Connect(addr); }
#endif

#ifdef ROUSE_NC_SPLIT_OF_NO_STREAM
[[maybe_unused]] auto Bad(std::string text) { return IntoSplit(text); }
#endif

}  // namespace
}  // namespace rouse
