// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_stream.h
// -----------------------------------------------------------------------------
//
// Declares `UnixStream`, a connection of Unix sockets.

#ifndef ROUSE_NET_UNIX_STREAM_H_
#define ROUSE_NET_UNIX_STREAM_H_

#include "rouse/net/unix/unix_stream.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_STREAM_H_
