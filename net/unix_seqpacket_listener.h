// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_seqpacket_listener.h
// -----------------------------------------------------------------------------
//
// Declares `UnixSeqpacketListener`, which accepts connections of messages.

#ifndef ROUSE_NET_UNIX_SEQPACKET_LISTENER_H_
#define ROUSE_NET_UNIX_SEQPACKET_LISTENER_H_

#include "rouse/net/unix/unix_seqpacket_listener.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_SEQPACKET_LISTENER_H_
