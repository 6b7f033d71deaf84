// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef STORE_H_
#define STORE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/rouse.h"

using Words = std::vector<std::string>;
using Values = std::map<std::string, std::string>;

inline Words Apply(Values& values, const Words& command) {
  const bool set = command.size() == 3 && command[0] == "SET";
  const bool get = command.size() == 2 && command[0] == "GET";
  if (!set && !get) return {"ERR", "try SET key value, or GET key"};
  if (set) values[command[1]] = command[2];
  if (set) return {"OK"};
  auto found = values.find(command[1]);
  if (found == values.end()) return {"NIL"};
  return {"VALUE", found->second};
}

struct Request {
  Words command;
  rouse::oneshot::Sender<Words> reply;
};

using Store = rouse::mpsc::Sender<Request>;

// Owns the values. Ends when the last Store is destroyed.
inline rouse::Co<> RunStore(rouse::mpsc::Receiver<Request> requests) {
  Values values;
  while (std::optional<Request> request = co_await requests.Receive()) {
    request->reply.Send(Apply(values, request->command));
  }
}

inline Store StartStore() {
  auto [store, requests] = rouse::mpsc::Channel<Request>(32);
  rouse::Spawn(RunStore(std::move(requests)), {.name = "store"}).Detach();
  return store;
}

inline rouse::Co<absl::StatusOr<Words>> Ask(Store store, Words command) {
  auto [reply, answer] = rouse::oneshot::Channel<Words>();
  Request request{std::move(command), std::move(reply)};
  co_await rouse::OrReturn(store.Send(std::move(request)));
  co_return co_await answer;
}

#endif  // STORE_H_
