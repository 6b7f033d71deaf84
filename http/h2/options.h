// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: options.h
// -----------------------------------------------------------------------------
//
// The limits of HTTP/2 that HTTP/1.1 does not have:
//
//   http::h2::Options limits;
//   limits.max_concurrent_streams = 1000;
//   options.http2 = http::h2::Protocol(limits);

#ifndef ROUSE_HTTP_H2_OPTIONS_H_
#define ROUSE_HTTP_H2_OPTIONS_H_

#include "rouse/base/cxx20.h"

#include <cstdint>

namespace rouse::http::h2 {

// Options
//
// The limits of each connection. A number that is out of its range counts as
// the nearest number of the range.
struct Options {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  Options() {}

  // Most requests of a connection that are under way at once. Further requests
  // are refused with REFUSED_STREAM, so that the client can repeat the
  // requests. At most twice this number of handlers' futures exist at once,
  // because a request that the client resets is destroyed a little later. At
  // least 1.
  uint32_t max_concurrent_streams = 100;
  // Most bytes of a request's body that can arrive before the handler reads the
  // body: from 1 to 2^31 - 1.
  uint32_t stream_window_bytes = uint32_t{256} << 10;
  // Most unread bytes of all bodies of a connection, and thereby most memory
  // for these bytes: from 65,535, the protocol's own number, to 2^31 - 1. A
  // connection whose handlers leave this many bytes unread receives no further
  // body until a handler reads or ends. This time does not count as the
  // client's. A body of at most 4 KiB that arrives with the header of its
  // request does not count as unread.
  uint32_t connection_window_bytes = uint32_t{1} << 20;
};

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_OPTIONS_H_
