// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_socket.h
// -----------------------------------------------------------------------------
//
// `TcpSocket`: a TCP socket that is not connected yet.

#ifndef ROUSE_NET_TCP_SOCKET_H_
#define ROUSE_NET_TCP_SOCKET_H_

#include "rouse/net/tcp/tcp_socket.h"  // IWYU pragma: export

#endif  // ROUSE_NET_TCP_SOCKET_H_
