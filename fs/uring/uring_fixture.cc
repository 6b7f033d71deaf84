// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Has the tests of fs/ use io_uring: see fs_fixture.h.

#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/uring/uring.h"

namespace rouse::fs {
namespace {

[[maybe_unused]] const bool kIsSet = [] {
  TestBackend() = [] { return uring::CreateBackend(); };
  return true;
}();

}  // namespace
}  // namespace rouse::fs
