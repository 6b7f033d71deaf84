// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Typical mistakes of a first use of net/. Compiled by rouse_cc_nc_test, one
// case at a time.

#include <string>

#include "absl/types/span.h"
#include "rouse/io/read.h"
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

#ifdef ROUSE_NC_SPLIT_OF_NO_STREAM
[[maybe_unused]] auto Bad(std::string text) { return IntoSplit(text); }
#endif

}  // namespace
}  // namespace rouse
