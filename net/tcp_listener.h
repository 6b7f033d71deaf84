// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_listener.h
// -----------------------------------------------------------------------------
//
// Declares `TcpListener` for accepting TCP connections.

#ifndef ROUSE_NET_TCP_LISTENER_H_
#define ROUSE_NET_TCP_LISTENER_H_

#include "rouse/net/tcp/tcp_listener.h"  // IWYU pragma: export

#endif  // ROUSE_NET_TCP_LISTENER_H_
