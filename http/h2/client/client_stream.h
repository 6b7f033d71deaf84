// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_stream.h
// -----------------------------------------------------------------------------
//
// The parts of a client's HTTP/2 connection that several tasks share: the task
// of the connection, and the tasks that send requests and read responses.

#ifndef ROUSE_HTTP_H2_CLIENT_CLIENT_STREAM_H_
#define ROUSE_HTTP_H2_CLIENT_CLIENT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/timer/instant.h"

namespace rouse::http::internal {

// ClientStream
//
// A request and its response. The members of the first part do not change while
// several tasks use the stream. Those of the second part belong to the
// connection's task. Those of the third part, and of the base, are protected by
// the lock of the connection's `ClientLink`.
//
// A stream first waits in `ClientLink::waiting`. The connection's task takes
// the stream from there when the server allows one more, and closes it at its
// end.
struct ClientStream : SharedStream {
  using List = std::list<std::shared_ptr<ClientStream>>;

  // ---- Constant.

  // The request, except for a body that has a source. Belongs to the exchange
  // again after the stream was closed.
  Request request;
  bool streams_out = false;  // the body has a source, read by the user's task
  std::optional<uint64_t> out_size;  // of the request's body

  // ---- For the connection's task.

  int32_t id = 0;         // after the request was submitted to nghttp2
  size_t index = 0;       // position in the connection's list
  size_t text_sent = 0;   // bytes of the request's text
  bool is_begun = false;  // nghttp2 has sent the header of the request
  bool has_head = false;  // the header of the response has arrived
  // Why this end has reset the stream, if there is a better reason than the
  // code of the reset.
  absl::Status failure;
  // Why nghttp2 did not send the request, or 0.
  int not_sent = 0;
  // The server has reset the stream.
  bool was_reset = false;

  // ---- Under the lock.

  std::optional<List::iterator> place;  // in `waiting`
  bool is_sent = false;                 // all of the request
  bool is_cancelled = false;            // by the user
  bool has_timed_out = false;           // this is why
  // When the request was last sent in part.
  Instant progressed;
  // The response, without the body, and the size of the body if known.
  std::optional<Response> answer;
  std::optional<uint64_t> in_size;
  // After the stream was closed with an error.
  Repeat repeat = Repeat::kNever;
};

// ClientLink
//
// The state that the tasks of a client's connection share.
class ClientLink : public StreamLink {
 public:
  ClientLink(const ExchangeLimits& limits, size_t connection_window,
             size_t stream_window)
      : StreamLink(connection_window, stream_window), limits(limits) {}

  const ExchangeLimits limits;

  // Returns whether the server takes a further request now. Before the server's
  // settings have arrived, one request is sent, so that no request is refused.
  bool MayStart() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    return active < (has_settings ? most_active : 1);
  }

  // Closes the requests that wait, except for the first `kept`, so that they
  // can be sent on other connections. `woken` receives the wakers of their
  // tasks. The requests must be destroyed without the lock.
  ClientStream::List Release(size_t kept, Repeat repeat, WakeList& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // The requests that were not submitted to nghttp2, the number of those that
  // were, and the server's limit of the latter. The first limit is the
  // protocol's advice (RFC 9113, section 6.5.2).
  ClientStream::List waiting ABSL_GUARDED_BY(mu);
  size_t active ABSL_GUARDED_BY(mu) = 0;
  size_t most_active ABSL_GUARDED_BY(mu) = 100;
  bool has_settings ABSL_GUARDED_BY(mu) = false;
  // False after the end has begun.
  bool takes_requests ABSL_GUARDED_BY(mu) = true;
  // True when the client does not need the connection any more.
  bool is_abandoned ABSL_GUARDED_BY(mu) = false;
  // True when a request has begun.
  bool has_begun ABSL_GUARDED_BY(mu) = false;
  // True when the server has answered a request.
  bool has_answered ABSL_GUARDED_BY(mu) = false;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_CLIENT_STREAM_H_
