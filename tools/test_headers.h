// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for all tests: headers of other projects (see
// precompiled_header.bzl). A test must still include the headers of its names,
// because g++ and clang-tidy compile tests without the precompiled header.

// NOLINTBEGIN(llvm-header-guard)
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
// NOLINTEND(llvm-header-guard)
