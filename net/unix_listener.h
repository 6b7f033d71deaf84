// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_listener.h
// -----------------------------------------------------------------------------
//
// Declares `UnixListener` for accepting connections of Unix sockets.

#ifndef ROUSE_NET_UNIX_LISTENER_H_
#define ROUSE_NET_UNIX_LISTENER_H_

#include "rouse/net/unix/unix_listener.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_LISTENER_H_
