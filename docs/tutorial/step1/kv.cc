// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"

rouse::Co<absl::StatusOr<int>> CountKeys(std::string table) {
  co_await rouse::Sleep(absl::Milliseconds(50));
  if (table == "users") co_return 3;
  co_return absl::NotFoundError(absl::StrCat("no table ", table));
}

rouse::Co<absl::Status> Main() {
  int users = co_await rouse::OrReturn(CountKeys("users"));
  printf("users: %d keys\n", users);
  int carts = co_await rouse::OrReturn(CountKeys("carts"));
  printf("carts: %d keys\n", carts);
  co_return absl::OkStatus();
}

int main() { return rouse::RunMain(Main()); }
