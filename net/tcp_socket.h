// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_socket.h
// -----------------------------------------------------------------------------
//
// Declares `TcpSocket`, a TCP socket without a connection.

#ifndef ROUSE_NET_TCP_SOCKET_H_
#define ROUSE_NET_TCP_SOCKET_H_

#include "rouse/net/tcp/tcp_socket.h"  // IWYU pragma: export

#endif  // ROUSE_NET_TCP_SOCKET_H_
