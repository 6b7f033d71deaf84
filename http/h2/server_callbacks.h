// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_callbacks.h
// -----------------------------------------------------------------------------
//
// The callbacks with which nghttp2 notifies a `ServerSession`.

#ifndef ROUSE_HTTP_H2_SERVER_CALLBACKS_H_
#define ROUSE_HTTP_H2_SERVER_CALLBACKS_H_

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "rouse/http/h2/server_session.h"

namespace rouse::http::internal {

// The data of the PING between the two GOAWAY.
inline constexpr std::array<uint8_t, 8> kPing = {'d', 'r', 'a', 'i',
                                                 'n', 'i', 'n', 'g'};

// ServerSession::Callbacks
//
// See "Callbacks" in server_session.h. The user data of a session of nghttp2 is
// the `ServerSession`, and the user data of a stream is the `ServerStream`.
struct ServerSession::Callbacks {
  // Return the callbacks and the options of every session, or null if memory is
  // exhausted.
  static const nghttp2_session_callbacks* Get();
  static const nghttp2_option* Options();

  // Gives nghttp2 bytes of a response's body. `source` has the `ServerStream`.
  static ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* buffer,
                          size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void* user_data);

 private:
  struct Functions;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SERVER_CALLBACKS_H_
