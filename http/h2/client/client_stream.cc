// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/client_stream.h"

#include <cstddef>
#include <iterator>

#include "absl/status/status.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/shared/shared_stream.h"

namespace rouse::http::internal {

ClientStream::List ClientLink::Release(size_t kept, Repeat repeat,
                                       WakeList& woken) {
  ClientStream::List released;
  if (kept >= waiting.size()) return released;
  const auto first =
      std::next(waiting.begin(), static_cast<std::ptrdiff_t>(kept));
  woken.Reserve(waiting.size() - kept);
  for (auto i = first; i != waiting.end(); ++i) {
    ClientStream& stream = **i;
    stream.place.reset();
    stream.is_closed = true;
    stream.in_error =
        absl::UnavailableError("the connection takes no more requests now");
    stream.repeat = repeat;
    woken.Add(stream.reader);
  }
  released.splice(released.end(), waiting, first, waiting.end());
  return released;
}

}  // namespace rouse::http::internal
