// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "rouse/rouse.h"
#include "store.h"

rouse::Co<absl::Status> Main() {
  Store store = StartStore();
  for (Words command : {Words{"SET", "city", "Paris"}, Words{"GET", "city"},
                        Words{"GET", "river"}, Words{"DROP"}}) {
    Words reply = co_await rouse::OrReturn(Ask(store, command));
    printf("%s\n", absl::StrJoin(reply, " ").c_str());
  }
  co_return absl::OkStatus();
}

int main() { return rouse::RunMain(Main()); }
