// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/grpc/status.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "grpcpp/support/status.h"

namespace rouse::rpc {

absl::Status FromGrpc(const ::grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
  const std::string details = status.error_details();
  if (!details.empty()) result.SetPayload(kErrorDetails, absl::Cord(details));
  return result;
}

::grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return ::grpc::Status();
  const std::optional<absl::Cord> details = status.GetPayload(kErrorDetails);
  return ::grpc::Status(
      static_cast<::grpc::StatusCode>(status.code()),
      std::string(status.message()),
      details.has_value() ? std::string(*details) : std::string());
}

}  // namespace rouse::rpc
