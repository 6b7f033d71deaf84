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
  if (table == "") rouse::Panic("CountKeys() needs the name of a table");
  co_return absl::NotFoundError(absl::StrCat("no table ", table));
}

void Print(const char* table, const absl::StatusOr<int>& keys) {
  if (keys.ok()) {
    printf("%s: %d keys\n", table, *keys);
  } else {
    printf("%s: %s\n", table, keys.status().ToString().c_str());
  }
}

rouse::Co<absl::Status> Main() {
  rouse::JoinHandle<absl::StatusOr<int>> users =
      rouse::Spawn(CountKeys("users"));
  rouse::JoinHandle<absl::StatusOr<int>> carts =
      rouse::Spawn(CountKeys("carts"));
  rouse::JoinHandle<absl::StatusOr<int>> nameless =
      rouse::Spawn(CountKeys(""), {.name = "nameless"});

  Print("users", co_await users);
  Print("carts", co_await carts);
  Print("nameless", co_await nameless);

  rouse::JoinHandle<void> slow = rouse::Spawn(
      []() -> rouse::Co<> { co_await rouse::Sleep(absl::Hours(1)); });
  slow.Abort();
  absl::Status end = co_await slow;
  printf("slow: %s\n", end.ToString().c_str());
  co_return absl::OkStatus();
}

int main() { return rouse::RunMain(Main()); }
