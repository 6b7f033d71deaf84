// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_seqpacket.h
// -----------------------------------------------------------------------------
//
// Declares `UnixSeqpacket`, a connection of messages within the machine.

#ifndef ROUSE_NET_UNIX_SEQPACKET_H_
#define ROUSE_NET_UNIX_SEQPACKET_H_

#include "rouse/net/unix/unix_seqpacket.h"  // IWYU pragma: export

#endif  // ROUSE_NET_UNIX_SEQPACKET_H_
