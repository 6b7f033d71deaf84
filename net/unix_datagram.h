// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_datagram.h
// -----------------------------------------------------------------------------
//
// Declares `UnixDatagram`, a Unix socket for datagrams.

#ifndef ROUSE_NET_UNIX_DATAGRAM_H_
#define ROUSE_NET_UNIX_DATAGRAM_H_

#include "rouse/net/unix/unix_datagram.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_DATAGRAM_H_
