// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_callbacks.h
// -----------------------------------------------------------------------------
//
// The callbacks with which nghttp2 notifies a `ClientSession`.

#ifndef ROUSE_HTTP_H2_CLIENT_CLIENT_CALLBACKS_H_
#define ROUSE_HTTP_H2_CLIENT_CLIENT_CALLBACKS_H_

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "rouse/http/h2/client/client_session.h"

namespace rouse::http::internal {

// ClientSession::Callbacks
//
// See "Callbacks" in client_session.h. The user data of a session of nghttp2 is
// the `ClientSession`, and the user data of a stream is the `ClientStream`.
struct ClientSession::Callbacks {
  // Return the callbacks and the options of every session, or null if memory is
  // exhausted.
  static const nghttp2_session_callbacks* Get();
  static const nghttp2_option* Options();

  // Gives nghttp2 bytes of a request's body. `source` has the `ClientStream`.
  static ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* buffer,
                          size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void* user_data);

 private:
  struct Functions;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_CLIENT_CALLBACKS_H_
