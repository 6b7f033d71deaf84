// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_socket.h
// -----------------------------------------------------------------------------
//
// Declares `UnixSocket`, a Unix socket that is not connected yet.

#ifndef ROUSE_NET_UNIX_SOCKET_H_
#define ROUSE_NET_UNIX_SOCKET_H_

#include "rouse/net/unix/unix_socket.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_SOCKET_H_
