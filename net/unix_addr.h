// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_addr.h
// -----------------------------------------------------------------------------
//
// Declares `UnixAddr`, the address of a Unix socket.

#ifndef ROUSE_NET_UNIX_ADDR_H_
#define ROUSE_NET_UNIX_ADDR_H_

#include "rouse/net/unix/unix_addr.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_ADDR_H_
