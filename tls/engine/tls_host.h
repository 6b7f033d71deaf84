// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_host.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: the host to which a client connects.

#ifndef ROUSE_TLS_ENGINE_TLS_HOST_H_
#define ROUSE_TLS_ENGINE_TLS_HOST_H_

#include "rouse/base/cxx20.h"

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct ssl_st;

namespace rouse::internal {

// Has `ssl` accept only a certificate that names `host`, and ask the server for
// `host` (SNI) unless `host` is an IP address. Returns the name or the address
// without the brackets, the interface and the last dot of `host`. Errors:
//
//   InvalidArgument   `host` is not a host name or IP address
absl::StatusOr<std::string> SetTlsHost(ssl_st* ssl, std::string_view host);

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_TLS_HOST_H_
