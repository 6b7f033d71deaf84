// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server.h
// -----------------------------------------------------------------------------
//
// `Serve()` and `ServeConnection()` answer the requests of connections.

#ifndef ROUSE_HTTP_SERVER_H_
#define ROUSE_HTTP_SERVER_H_

#include "rouse/http/server/server.h"  // IWYU pragma: export

#endif  // ROUSE_HTTP_SERVER_H_
