// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who is in which room of the chat. The tasks of all clients share the lobby,
// and run on one thread: there is no lock, and no atomic.

#ifndef ROUSE_EXAMPLES_PORTS_LOCAL_CHAT_LOBBY_H_
#define ROUSE_EXAMPLES_PORTS_LOCAL_CHAT_LOBBY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "rouse/rouse.h"

// Lobby
//
// A member has an id, a name, a room, and an outbox: a channel to the member's
// task. For one thread. No function suspends, so a task that calls several
// functions in a row sees no change by another task in between.
//
// A member is dropped when the outbox is full. The functions ignore a member
// who was dropped.
class Lobby {
 public:
  using Id = uint64_t;

  // Number of lines that a slow member can be behind.
  static constexpr size_t kOutboxSize = 64;

  struct Entered {
    Entered(Id id, rouse::mpsc::Receiver<std::string> inbox)
        : id(id), inbox(std::move(inbox)) {}

    Id id;
    // The lines for the member. Ends when the member is dropped.
    rouse::mpsc::Receiver<std::string> inbox;
  };

  // Adds a member, who is in the room "lobby" and is called "guest1" or the
  // like.
  Entered Enter() {
    std::string name;
    do {
      name = absl::StrCat("guest", ++guests_);
    } while (IsTaken(name));
    auto [outbox, inbox] = rouse::mpsc::Channel<std::string>(kOutboxSize);
    const Id id = ++last_id_;
    members_.emplace(id, Member(name, "lobby", std::move(outbox)));
    SayIn("lobby", id, absl::StrCat("* ", name, " has come"));
    return Entered(id, std::move(inbox));
  }

  void Leave(Id id) {
    const auto member = members_.find(id);
    if (member == members_.end()) return;
    const Member left = std::move(member->second);
    members_.erase(member);
    SayIn(left.room, id, absl::StrCat("* ", left.name, " has left"));
  }

  // Returns false if the name is taken.
  bool Rename(Id id, std::string name) {
    const auto member = members_.find(id);
    if (member == members_.end() || IsTaken(name)) return false;
    const std::string before = std::exchange(member->second.name, name);
    const std::string room = member->second.room;
    SayIn(room, id, absl::StrCat("* ", before, " is now ", name));
    return true;
  }

  void Move(Id id, std::string room) {
    const auto member = members_.find(id);
    if (member == members_.end() || member->second.room == room) return;
    const std::string name = member->second.name;
    const std::string before = std::exchange(member->second.room, room);
    SayIn(before, id, absl::StrCat("* ", name, " has left"));
    SayIn(room, id, absl::StrCat("* ", name, " has come"));
  }

  // Sends a line to the other members of the member's room.
  void Say(Id id, std::string_view line) {
    const auto member = members_.find(id);
    if (member == members_.end()) return;
    ++relayed_;
    const std::string room = member->second.room;
    SayIn(room, id, absl::StrCat(member->second.name, ": ", line));
  }

  std::string NameOf(Id id) const {
    const auto member = members_.find(id);
    return member == members_.end() ? "" : member->second.name;
  }

  // Returns the names of the members of the member's room, in the order in
  // which the members came.
  std::vector<std::string> Who(Id id) const {
    std::vector<std::string> names;
    const auto member = members_.find(id);
    if (member == members_.end()) return names;
    for (const auto& [other, each] : members_) {
      if (each.room == member->second.room) names.push_back(each.name);
    }
    return names;
  }

  // Returns the number of lines that `Say()` has sent.
  uint64_t relayed() const { return relayed_; }

 private:
  struct Member {
    Member(std::string name, std::string room,
           rouse::mpsc::Sender<std::string> outbox)
        : name(std::move(name)),
          room(std::move(room)),
          outbox(std::move(outbox)) {}

    std::string name;
    std::string room;
    rouse::mpsc::Sender<std::string> outbox;
  };

  bool IsTaken(std::string_view name) const {
    return absl::c_any_of(members_, [name](const auto& each) {
      return each.second.name == name;
    });
  }

  void SayIn(const std::string& room, Id except, const std::string& line) {
    std::vector<Id> slow;
    for (const auto& [id, member] : members_) {
      if (member.room != room || id == except) continue;
      if (!member.outbox.TrySend(line).ok()) slow.push_back(id);
    }
    // The loop has ended, so the members may change.
    for (const Id id : slow) Leave(id);
  }

  absl::btree_map<Id, Member> members_;
  Id last_id_ = 0;
  uint64_t guests_ = 0;
  uint64_t relayed_ = 0;
};

#endif  // ROUSE_EXAMPLES_PORTS_LOCAL_CHAT_LOBBY_H_
