// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: peer_credentials.h
// -----------------------------------------------------------------------------
//
// Declares `PeerCredentials`, the process at the other end of a Unix socket.

#ifndef ROUSE_NET_PEER_CREDENTIALS_H_
#define ROUSE_NET_PEER_CREDENTIALS_H_

#include "rouse/net/unix/peer_credentials.h"  // IWYU pragma: export

#endif  // ROUSE_NET_PEER_CREDENTIALS_H_
