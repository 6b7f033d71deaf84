// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for all libraries: headers of other projects (see
// precompiled_header.bzl). A source must still include the headers of its
// names, because g++, clang-tidy and consumers compile it without the
// precompiled header.

// NOLINTBEGIN(llvm-header-guard)
#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
// NOLINTEND(llvm-header-guard)
