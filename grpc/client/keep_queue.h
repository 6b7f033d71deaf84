// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: keep_queue.h
// -----------------------------------------------------------------------------
//
// Internal to grpc/: lets gRPC's threads destroy a channel.
//
// gRPC's callbacks run on threads that serve a completion queue, which the
// channels and servers of the process share. The last of them to be destroyed
// joins these threads, and then deletes the queue. A call keeps its channel,
// and a call that was dropped is deleted by its last callback. If the user's
// stub has been destroyed before, one of the threads would thus join itself,
// and gRPC 1.51 would end the program.

#ifndef ROUSE_GRPC_CLIENT_KEEP_QUEUE_H_
#define ROUSE_GRPC_CLIENT_KEEP_QUEUE_H_

#include "rouse/base/cxx20.h"

namespace rouse::rpc::internal {

// KeepQueue()
//
// Makes a channel that is never destroyed, and that uses gRPC's completion
// queue, so that no other channel is the last one. Later calls do nothing.
// Thread-safe.
void KeepQueue();

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_CLIENT_KEEP_QUEUE_H_
