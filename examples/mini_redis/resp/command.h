// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: command.h
// -----------------------------------------------------------------------------
//
// A request of a client: a name such as "SET", and the arguments of the name.
//
//   Command command = {"SET", "key", "value"};
//   std::string bytes;
//   AppendCommand(command, bytes);  // "*3\r\n$3\r\nSET\r\n$3\r\nkey..."

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_COMMAND_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace mini_redis::resp {

// Command
//
// A list of byte strings. All strings are in one buffer, so a typical command
// takes no more than one allocation, and a command that is cleared and filled
// again takes none.
class Command {
 public:
  // Largest sum of the sizes of all arguments.
  static constexpr size_t kMaxBytes =
      std::numeric_limits<uint32_t>::max();  // bytes

  Command() = default;
  Command(std::initializer_list<std::string_view> arguments) {
    for (std::string_view argument : arguments) Add(argument);
  }
  explicit Command(absl::Span<const std::string> arguments) {
    for (const std::string& argument : arguments) Add(argument);
  }

  // Makes a command in a full expression with `co_await`, in which g++ 12 takes
  // no initializer list.
  template <class... Arguments>
  static Command Of(const Arguments&... arguments) {
    Command command;
    (command.Add(arguments), ...);
    return command;
  }

  // Returns the number of arguments, including the name.
  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }

  // Returns the sum of the sizes of all arguments.
  size_t bytes() const { return text_.size(); }

  // Returns argument `i`; argument 0 is the name. REQUIRES: `i < size()`.
  std::string_view operator[](size_t i) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  // Takes argument `i` out, without an allocation, and leaves the command
  // empty. REQUIRES: `i < size()`.
  std::string Take(size_t i) && {
    text_.resize(ends_[i]);
    if (i > 0) text_.erase(0, ends_[i - 1]);
    ends_.clear();
    return std::exchange(text_, std::string());
  }

  // Adds an argument. REQUIRES: `bytes()` does not exceed `kMaxBytes`.
  void Add(std::string_view argument) {
    text_ += argument;
    EndArgument();
  }

  // Adds to the argument that the next `EndArgument()` ends.
  void AddPart(std::string_view part) { text_ += part; }
  void EndArgument() { ends_.push_back(static_cast<uint32_t>(text_.size())); }

  // Removes all arguments, and keeps the memory.
  void Clear() {
    text_.clear();
    ends_.clear();
  }

  // Returns the bytes of memory that `Clear()` keeps.
  size_t capacity() const {
    return text_.capacity() + ends_.capacity() * sizeof(uint32_t);
  }

  friend bool operator==(const Command& a, const Command& b) {
    return a.text_ == b.text_ && a.ends_ == b.ends_;
  }

 private:
  std::string text_;
  absl::InlinedVector<uint32_t, 6> ends_;
};

// Appends the bytes of `command`: an array of bulk strings.
void AppendCommand(const Command& command, std::string& out);

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_COMMAND_H_
