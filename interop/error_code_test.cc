// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/interop/error_code.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::interop {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

TEST(ErrorCodeTest, NoErrorIsOk) {
  EXPECT_THAT(ToStatus(std::error_code()), IsOk());
}

TEST(ErrorCodeTest, AnErrnoHasTheCodeThatAbseilGivesIt) {
  EXPECT_THAT(ToStatus(std::error_code(ECONNREFUSED, std::system_category())),
              StatusIs(absl::StatusCode::kUnavailable,
                       "Connection refused (system:111)"));
  EXPECT_THAT(ToStatus(std::make_error_code(std::errc::operation_canceled)),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("(generic:")));
}

// Is equivalent to an errno if its value is 1.
class Category : public std::error_category {
 public:
  const char* name() const noexcept override { return "shop"; }
  std::string message(int value) const override {
    return value == 1 ? "no such article" : "the shop is on fire";
  }
  std::error_condition default_error_condition(
      int value) const noexcept override {
    if (value == 1) return std::errc::no_such_file_or_directory;
    return std::error_condition(value, *this);
  }
};

TEST(ErrorCodeTest, AnEquivalentOfAnErrnoHasItsCode) {
  const Category shop;
  EXPECT_THAT(
      ToStatus(std::error_code(1, shop)),
      StatusIs(absl::StatusCode::kNotFound, "no such article (shop:1)"));
}

TEST(ErrorCodeTest, AnyOtherErrorIsUnknown) {
  const Category shop;
  EXPECT_THAT(
      ToStatus(std::error_code(7, shop)),
      StatusIs(absl::StatusCode::kUnknown, "the shop is on fire (shop:7)"));
}

}  // namespace
}  // namespace rouse::interop
