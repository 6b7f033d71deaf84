// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_listener_group.h
// -----------------------------------------------------------------------------
//
// Declares `TcpListenerGroup`, several TCP listeners on one address.

#ifndef ROUSE_NET_TCP_LISTENER_GROUP_H_
#define ROUSE_NET_TCP_LISTENER_GROUP_H_

#include "rouse/net/tcp/tcp_listener_group.h"  // IWYU pragma: export

#endif  // ROUSE_NET_TCP_LISTENER_GROUP_H_
