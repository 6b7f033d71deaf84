// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/value_decoder.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/resp/value.h"

namespace mini_redis::resp {
namespace {

// An incomplete text that lacks more than this is taken from the caller's
// buffer in parts, so that the bytes are not kept twice.
constexpr size_t kTakeInParts = 16384;  // bytes

absl::Status Malformed(std::string_view line) {
  return absl::InvalidArgumentError(absl::StrCat(
      "not a reply of Redis: \"", absl::CHexEscape(line.substr(0, 40)), "\""));
}

bool IsBigNumber(std::string_view digits) {
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) {
    digits.remove_prefix(1);
  }
  if (digits.empty()) return false;
  for (const char c : digits) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::optional<Value>> ValueDecoder::Decode(
    std::string_view& bytes) {
  while (!broken_) {
    const size_t before = bytes.size();
    absl::Status status = DecodeStep(bytes);
    if (!status.ok()) {
      *this = ValueDecoder(limits_);
      broken_ = true;
      bytes = {};
      return status;
    }
    EndLevels();
    if (value_.has_value()) {
      charged_ = 0;
      return std::exchange(value_, std::nullopt);
    }
    if (bytes.size() == before) return std::nullopt;
  }
  bytes = {};
  return std::nullopt;
}

absl::StatusOr<std::optional<Value>> ValueDecoder::DecodeEnd(
    std::string_view& bytes) {
  absl::StatusOr<std::optional<Value>> value = Decode(bytes);
  if (!value.ok() || value->has_value() || broken_) return value;
  const bool cut_off =
      !bytes.empty() || text_type_ != 0 || !levels_.empty() || charged_ > 0;
  *this = ValueDecoder(limits_);
  broken_ = true;
  bytes = {};
  if (!cut_off) return std::nullopt;
  return absl::OutOfRangeError("the stream ended within a reply");
}

absl::Status ValueDecoder::Encode(const Value& value, std::string& out) const {
  AppendValue(value, 3, out);
  return absl::OkStatus();
}

absl::Status ValueDecoder::DecodeStep(std::string_view& bytes) {
  if (text_type_ != 0) return DecodeText(bytes);
  const size_t end = bytes.find('\n', searched_);
  const bool found = end != std::string_view::npos;
  if ((found ? end : bytes.size()) > limits_.max_line_size) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a line of a reply exceeds the limit of ",
                     limits_.max_line_size, " bytes"));
  }
  searched_ = found ? 0 : bytes.size();
  if (!found) return absl::OkStatus();
  std::string_view line = bytes.substr(0, end);
  if (line.size() < 2 || line.back() != '\r') return Malformed(line);
  line.remove_suffix(1);
  bytes.remove_prefix(end + 1);
  return DecodeLine(line);
}

absl::Status ValueDecoder::DecodeLine(std::string_view line) {
  const char type = line.front();
  const std::string_view rest = line.substr(1);
  int64_t number = 0;
  switch (type) {
    case '+':
      value_ = Value::SimpleString(std::string(rest));
      break;
    case '-':
      value_ = Value::Error(std::string(rest));
      break;
    case '(':
      if (!IsBigNumber(rest)) return Malformed(line);
      value_ = Value::BigNumber(std::string(rest));
      break;
    case ':':
      if (!ParseInteger(rest, number)) return Malformed(line);
      value_ = Value::Integer(number);
      break;
    case ',': {
      double real = 0;
      if (!ParseDouble(rest, real)) return Malformed(line);
      value_ = Value::Double(real);
      break;
    }
    case '#':
      if (rest != "t" && rest != "f") return Malformed(line);
      value_ = Value::Boolean(rest == "t");
      break;
    case '_':
      if (!rest.empty()) return Malformed(line);
      value_ = Value::Null();
      break;
    case '$':
    case '*':
      if (rest == "-1") {
        value_ = Value::Null();
        break;
      }
      [[fallthrough]];
    case '!':
    case '=':
    case '%':
    case '~':
    case '>':
    case '|':
      if (!ParseInteger(rest, number) || number < 0) return Malformed(line);
      if (type == '$' || type == '!' || type == '=') {
        return BeginText(type, number);
      }
      return BeginElements(type, number);
    default:
      return Malformed(line);
  }
  return Charge(sizeof(Value) + rest.size());
}

absl::Status ValueDecoder::BeginText(char type, int64_t size) {
  if (static_cast<uint64_t>(size) > limits_.max_size) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a string of ", size, " bytes exceeds the limit of ",
                     limits_.max_size));
  }
  // The bytes are charged before they arrive, so that a reply that will exceed
  // the limit is not received.
  text_type_ = type;
  text_left_ = static_cast<size_t>(size);
  return Charge(sizeof(Value) + text_left_);
}

absl::Status ValueDecoder::DecodeText(std::string_view& bytes) {
  if (bytes.size() < text_left_ + 2) {
    if (text_left_ < bytes.size() + kTakeInParts) return absl::OkStatus();
    text_ += bytes;
    text_left_ -= bytes.size();
    bytes = {};
    return absl::OkStatus();
  }
  if (bytes.substr(text_left_, 2) != "\r\n") {
    return absl::InvalidArgumentError(
        "not a reply of Redis: a string is not followed by a line end");
  }
  text_ += bytes.substr(0, text_left_);
  bytes.remove_prefix(text_left_ + 2);
  text_left_ = 0;
  return EndText();
}

absl::Status ValueDecoder::EndText() {
  std::string text = std::exchange(text_, std::string());
  switch (std::exchange(text_type_, 0)) {
    case '!':
      value_ = Value::Error(std::move(text));
      break;
    case '=':
      if (text.size() < 4 || text[3] != ':') return Malformed(text);
      value_ = Value::VerbatimString(std::move(text));
      break;
    default:
      value_ = Value::BulkString(std::move(text));
  }
  return absl::OkStatus();
}

absl::Status ValueDecoder::BeginElements(char type, int64_t size) {
  if (levels_.size() >= limits_.max_depth) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a reply has more than ", limits_.max_depth, " levels of arrays"));
  }
  const bool pairs = type == '%' || type == '|';
  // Refused before any element has arrived. The elements themselves are charged
  // one by one.
  if (static_cast<uint64_t>(size) >
      limits_.max_size / (sizeof(Value) * (pairs ? 2 : 1))) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an array of ", size, " elements exceeds the limit of ",
                     limits_.max_size, " bytes"));
  }
  Level level;
  level.type = type;
  level.left = static_cast<size_t>(size) * (pairs ? 2 : 1);
  levels_.push_back(std::move(level));
  return Charge(sizeof(Value));
}

void ValueDecoder::EndLevels() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (value_.has_value()) {
      level.elements.push_back(*std::exchange(value_, std::nullopt));
      --level.left;
    }
    if (level.left > 0) return;
    std::vector<Value> elements = std::move(level.elements);
    const char type = level.type;
    levels_.pop_back();
    switch (type) {
      case '%':
        value_ = Value::Map(std::move(elements));
        break;
      case '~':
        value_ = Value::Set(std::move(elements));
        break;
      case '>':
        value_ = Value::Push(std::move(elements));
        break;
      case '|':
        // The attribute describes the value behind it, which is yet to come.
        return;
      default:
        value_ = Value::Array(std::move(elements));
    }
  }
}

absl::Status ValueDecoder::Charge(size_t size) {
  if (size > limits_.max_size - charged_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a reply exceeds the limit of ", limits_.max_size, " bytes"));
  }
  charged_ += size;
  return absl::OkStatus();
}

}  // namespace mini_redis::resp
