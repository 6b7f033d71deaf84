// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for examples (see tools/precompiled_header.bzl). A source must
// still include the headers of its names, because g++ and clang-tidy compile
// sources without the precompiled header.

// NOLINTBEGIN(llvm-header-guard)
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"
// NOLINTEND(llvm-header-guard)
