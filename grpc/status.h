// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: status.h
// -----------------------------------------------------------------------------
//
// Converts between gRPC's status and `absl::Status`, whose codes are the same:
//
//   absl::Status status = rouse::rpc::FromGrpc(grpc_status);
//   return rouse::rpc::ToGrpc(absl::NotFoundError("no such queue"));

#ifndef ROUSE_GRPC_STATUS_H_
#define ROUSE_GRPC_STATUS_H_

#include "rouse/base/cxx20.h"

#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace rouse::rpc {

// The payload of an `absl::Status` that contains the error details of a gRPC
// status: the bytes that gRPC sends as "grpc-status-details-bin", usually a
// serialized google.rpc.Status.
inline constexpr std::string_view kErrorDetails =
    "type.googleapis.com/google.rpc.Status";

// Returns `status` with the same code and message. Error details become the
// payload `kErrorDetails`. A code that gRPC does not define becomes kUnknown.
absl::Status FromGrpc(const ::grpc::Status& status);

// Returns `status` with the same code and message. The payload `kErrorDetails`
// becomes gRPC's error details, and other payloads are dropped, because gRPC
// has no place for them.
::grpc::Status ToGrpc(const absl::Status& status);

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_STATUS_H_
