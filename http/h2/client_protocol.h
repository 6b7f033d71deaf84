// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_protocol.h
// -----------------------------------------------------------------------------
//
// `ClientProtocol()` lets an HTTP client speak HTTP/2.

#ifndef ROUSE_HTTP_H2_CLIENT_PROTOCOL_H_
#define ROUSE_HTTP_H2_CLIENT_PROTOCOL_H_

#include "rouse/http/h2/client/client_protocol.h"  // IWYU pragma: export

#endif  // ROUSE_HTTP_H2_CLIENT_PROTOCOL_H_
