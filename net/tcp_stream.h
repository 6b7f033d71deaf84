// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_stream.h
// -----------------------------------------------------------------------------
//
// Declares `TcpStream`, a TCP connection.

#ifndef ROUSE_NET_TCP_STREAM_H_
#define ROUSE_NET_TCP_STREAM_H_

#include "rouse/net/tcp/tcp_stream.h"  // IWYU pragma: export

#endif  // ROUSE_NET_TCP_STREAM_H_
