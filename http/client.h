// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client.h
// -----------------------------------------------------------------------------
//
// `Client` sends requests of HTTP/1.1 and HTTP/2, and keeps the connections for
// further requests.

#ifndef ROUSE_HTTP_CLIENT_H_
#define ROUSE_HTTP_CLIENT_H_

#include "rouse/http/client/client.h"  // IWYU pragma: export

#endif  // ROUSE_HTTP_CLIENT_H_
