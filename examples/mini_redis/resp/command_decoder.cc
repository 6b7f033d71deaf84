// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/command_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/numbers.h"

namespace mini_redis::resp {
namespace {

// An incomplete argument that lacks more than this is taken from the caller's
// buffer in parts, so that the bytes are not kept twice.
constexpr size_t kTakeInParts = 16384;  // bytes

// Memory above this is not kept for the next command.
constexpr size_t kKeptCapacity = 65536;  // bytes

absl::Status Malformed(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("Protocol error: ", what));
}

absl::Status TooBig(std::string_view what) {
  return absl::ResourceExhaustedError(absl::StrCat("Protocol error: ", what));
}

// Reads "\xHH" at the front of `text`, if the digits are complete.
bool TakeHex(std::string_view& text, char& byte) {
  if (text.size() < 4 || text[1] != 'x') return false;
  int value = 0;
  for (const char c : text.substr(2, 2)) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
    const int digit = absl::ascii_isdigit(static_cast<unsigned char>(c))
                          ? c - '0'
                          : absl::ascii_tolower(c) - 'a' + 10;
    value = value * 16 + digit;
  }
  byte = static_cast<char>(value);
  text.remove_prefix(4);
  return true;
}

// Returns the byte that an escape sequence within "..." stands for.
char Unescape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// Adds the text within quotes at the front of `line` to the current argument,
// and takes the text. Returns whether the closing quote exists and ends a word.
bool TakeQuoted(std::string_view& line, Command& command) {
  const char quote = line.front();
  line.remove_prefix(1);
  while (!line.empty()) {
    char c = line.front();
    if (c == quote) {
      line.remove_prefix(1);
      return line.empty() ||
             absl::ascii_isspace(static_cast<unsigned char>(line.front()));
    }
    if (c == '\\' && quote == '"' && line.size() > 1) {
      if (!TakeHex(line, c)) {
        c = Unescape(line[1]);
        line.remove_prefix(2);
      }
    } else if (c == '\\' && quote == '\'' && line.size() > 1 &&
               line[1] == '\'') {
      c = '\'';
      line.remove_prefix(2);
    } else {
      line.remove_prefix(1);
    }
    command.AddPart(std::string_view(&c, 1));
  }
  return false;
}

// Splits `line` into words like Redis. Returns whether the quotes are balanced.
bool SplitWords(std::string_view line, Command& command) {
  for (;;) {
    line = absl::StripLeadingAsciiWhitespace(line);
    if (line.empty()) return true;
    while (!line.empty() &&
           !absl::ascii_isspace(static_cast<unsigned char>(line.front()))) {
      if (line.front() == '"' || line.front() == '\'') {
        if (!TakeQuoted(line, command)) return false;
        break;
      }
      command.AddPart(line.substr(0, 1));
      line.remove_prefix(1);
    }
    command.EndArgument();
  }
}

// Parses the number of a line such as "*3\r" or "$3\r", without "\n".
bool ParseLine(std::string_view line, int64_t& number) {
  if (line.empty() || line.back() != '\r') return false;
  line.remove_suffix(1);
  line.remove_prefix(1);
  return ParseInteger(line, number);
}

}  // namespace

CommandDecoder::CommandDecoder(const CommandLimits& limits) : limits_(limits) {
  limits_.max_request_size =
      std::min(limits_.max_request_size, Command::kMaxBytes);
}

absl::StatusOr<bool> CommandDecoder::DecodeInto(std::string_view& bytes,
                                                Command& command) {
  bool complete = false;
  absl::Status status = DecodeSome(bytes, complete);
  if (!status.ok()) {
    state_ = State::kBroken;
    bytes = {};
    command_ = Command();
    return status;
  }
  if (!complete) return false;
  std::swap(command_, command);
  if (command_.capacity() > kKeptCapacity) {
    command_ = Command();
  } else {
    command_.Clear();
  }
  return true;
}

absl::StatusOr<std::optional<Command>> CommandDecoder::Decode(
    std::string_view& bytes) {
  std::optional<Command> command(std::in_place);
  const absl::StatusOr<bool> complete = DecodeInto(bytes, *command);
  if (!complete.ok()) return complete.status();
  if (!*complete) command.reset();
  return command;
}

absl::StatusOr<std::optional<Command>> CommandDecoder::DecodeEnd(
    std::string_view& bytes) {
  absl::StatusOr<std::optional<Command>> command = Decode(bytes);
  if (!command.ok() || command->has_value()) return command;
  const bool cut_off =
      state_ != State::kBroken && (IsWithinRequest() || !bytes.empty());
  bytes = {};
  state_ = State::kBroken;
  command_ = Command();
  if (!cut_off) return std::nullopt;
  return absl::OutOfRangeError("the stream ended within a request");
}

absl::Status CommandDecoder::Encode(const Command& command,
                                    std::string& out) const {
  AppendCommand(command, out);
  return absl::OkStatus();
}

absl::Status CommandDecoder::DecodeSome(std::string_view& bytes,
                                        bool& complete) {
  while (!complete) {
    const size_t before = bytes.size();
    const State state = state_;
    absl::Status status;
    switch (state) {
      case State::kStart:
        if (bytes.empty()) return absl::OkStatus();
        status = bytes.front() == '*' ? DecodeCount(bytes)
                                      : DecodeInline(bytes, complete);
        break;
      case State::kLength:
        status = DecodeLength(bytes);
        break;
      case State::kArgument:
        status = DecodeArgument(bytes, complete);
        break;
      case State::kBroken:
        bytes = {};
        return absl::OkStatus();
    }
    if (!status.ok()) return status;
    // No step without bytes or a change of state makes progress later.
    if (bytes.size() == before && state_ == state) return absl::OkStatus();
  }
  return absl::OkStatus();
}

bool CommandDecoder::FindLine(std::string_view bytes, std::string_view& line) {
  const size_t end = bytes.find('\n', searched_);
  if (end == std::string_view::npos) {
    searched_ = bytes.size();
    return false;
  }
  searched_ = 0;
  line = bytes.substr(0, end);
  return true;
}

absl::Status CommandDecoder::DecodeInline(std::string_view& bytes,
                                          bool& complete) {
  std::string_view line;
  const bool found = FindLine(bytes, line);
  if ((found ? line.size() : bytes.size()) > limits_.max_inline_size) {
    return TooBig("too big inline request");
  }
  if (!found) return absl::OkStatus();
  if (!SplitWords(line, command_)) {
    return Malformed("unbalanced quotes in request");
  }
  if (command_.size() > limits_.max_arguments ||
      command_.bytes() > limits_.max_request_size) {
    return TooBig("too big inline request");
  }
  bytes.remove_prefix(line.size() + 1);
  complete = !command_.empty();
  return absl::OkStatus();
}

absl::Status CommandDecoder::DecodeCount(std::string_view& bytes) {
  std::string_view line;
  const bool found = FindLine(bytes, line);
  if ((found ? line.size() : bytes.size()) > limits_.max_inline_size) {
    return TooBig("too big mbulk count string");
  }
  if (!found) return absl::OkStatus();
  int64_t count = 0;
  if (!ParseLine(line, count)) return Malformed("invalid multibulk length");
  if (count > 0 && static_cast<uint64_t>(count) > limits_.max_arguments) {
    return TooBig("invalid multibulk length");
  }
  bytes.remove_prefix(line.size() + 1);
  // A request of no arguments, or of fewer, is no request.
  if (count <= 0) return absl::OkStatus();
  arguments_left_ = static_cast<size_t>(count);
  state_ = State::kLength;
  return absl::OkStatus();
}

absl::Status CommandDecoder::DecodeLength(std::string_view& bytes) {
  if (bytes.empty()) return absl::OkStatus();
  if (bytes.front() != '$') {
    // Redis prints the byte, which is a message of its own if it is a line end.
    const char c = bytes.front();
    return Malformed(absl::StrCat(
        "expected '$', got '",
        absl::ascii_isprint(static_cast<unsigned char>(c))
            ? std::string(1, c)
            : absl::StrCat("\\x", absl::Hex(static_cast<unsigned char>(c),
                                            absl::kZeroPad2)),
        "'"));
  }
  std::string_view line;
  const bool found = FindLine(bytes, line);
  if ((found ? line.size() : bytes.size()) > limits_.max_inline_size) {
    return TooBig("too big bulk count string");
  }
  if (!found) return absl::OkStatus();
  int64_t length = 0;
  if (!ParseLine(line, length) || length < 0) {
    return Malformed("invalid bulk length");
  }
  if (static_cast<uint64_t>(length) > limits_.max_bulk_size) {
    return TooBig("invalid bulk length");
  }
  // The sum does not exceed the limit so far.
  if (static_cast<uint64_t>(length) >
      limits_.max_request_size - command_.bytes()) {
    return TooBig("too big request");
  }
  bytes.remove_prefix(line.size() + 1);
  argument_left_ = static_cast<size_t>(length);
  state_ = State::kArgument;
  return absl::OkStatus();
}

absl::Status CommandDecoder::DecodeArgument(std::string_view& bytes,
                                            bool& complete) {
  if (bytes.size() < argument_left_ + 2) {
    if (argument_left_ < bytes.size() + kTakeInParts) return absl::OkStatus();
    command_.AddPart(bytes);
    argument_left_ -= bytes.size();
    bytes = {};
    return absl::OkStatus();
  }
  // Redis ignores these two bytes. A wrong length would then show much later,
  // if at all.
  if (bytes.substr(argument_left_, 2) != "\r\n") {
    return Malformed("expected a line end behind a bulk string");
  }
  command_.Add(bytes.substr(0, argument_left_));
  bytes.remove_prefix(argument_left_ + 2);
  --arguments_left_;
  complete = arguments_left_ == 0;
  state_ = complete ? State::kStart : State::kLength;
  return absl::OkStatus();
}

}  // namespace mini_redis::resp
