// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/grpc/status.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "grpcpp/support/status.h"
#include "gtest/gtest.h"

namespace rouse::rpc {
namespace {

TEST(StatusTest, OkHasNoMessage) {
  EXPECT_EQ(FromGrpc(::grpc::Status()), absl::OkStatus());
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
}

TEST(StatusTest, EveryCodeIsTheSame) {
  for (int code = 1; code <= 16; ++code) {
    const ::grpc::Status grpc(static_cast<::grpc::StatusCode>(code), "why");
    const absl::Status absl(static_cast<absl::StatusCode>(code), "why");
    EXPECT_EQ(FromGrpc(grpc), absl);
    EXPECT_EQ(ToGrpc(absl).error_code(), grpc.error_code());
    EXPECT_EQ(ToGrpc(absl).error_message(), "why");
    EXPECT_EQ(ToGrpc(absl).error_details(), "");
  }
}

TEST(StatusTest, AnUndefinedCodeIsUnknown) {
  const absl::Status status =
      FromGrpc(::grpc::Status(static_cast<::grpc::StatusCode>(77), "x"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown);
  EXPECT_EQ(status.message(), "x");
}

TEST(StatusTest, DetailsAreAPayload) {
  const std::string details("\0\1details", 9);
  const absl::Status status =
      FromGrpc(::grpc::Status(::grpc::StatusCode::ABORTED, "message", details));
  EXPECT_EQ(status.GetPayload(kErrorDetails), absl::Cord(details));
  EXPECT_EQ(ToGrpc(status).error_details(), details);
  EXPECT_EQ(ToGrpc(status).error_message(), "message");
}

TEST(StatusTest, OtherPayloadsAreDropped) {
  absl::Status status = absl::AbortedError("message");
  status.SetPayload("example.com/other", absl::Cord("x"));
  EXPECT_EQ(ToGrpc(status).error_details(), "");
}

}  // namespace
}  // namespace rouse::rpc
