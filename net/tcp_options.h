// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_options.h
// -----------------------------------------------------------------------------
//
// Declares `TcpOptions`, the options common to all TCP sockets.

#ifndef ROUSE_NET_TCP_OPTIONS_H_
#define ROUSE_NET_TCP_OPTIONS_H_

#include "rouse/net/tcp/tcp_options.h"  // IWYU pragma: export

#endif  // ROUSE_NET_TCP_OPTIONS_H_
