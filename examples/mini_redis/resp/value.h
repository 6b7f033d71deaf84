// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: value.h
// -----------------------------------------------------------------------------
//
// A reply of a server, of version 2 or 3 of the protocol.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_VALUE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/attributes.h"

namespace mini_redis::resp {

// Value
//
// A value has a type and, depending on the type, a text, an integer, a double,
// a boolean or elements. The accessors require a value of a type that has what
// they return; a wrong type is an exception of type `std::bad_variant_access`.
class Value {
 public:
  enum class Type {
    kNull,            // "$-1", "*-1" or "_"
    kSimpleString,    // "+OK"
    kError,           // "-ERR unknown command", or "!" and a length
    kInteger,         // ":1"
    kBulkString,      // "$3", and 3 bytes
    kArray,           // "*2", and 2 elements
    kMap,             // "%2", and 2 pairs: 4 elements, key before value
    kSet,             // "~2", and 2 elements
    kPush,            // ">2", and 2 elements: a message without a request
    kDouble,          // ",1.5"
    kBoolean,         // "#t" or "#f"
    kBigNumber,       // "(" and any number of digits
    kVerbatimString,  // "=7", and a text such as "txt:abc"
  };

  // Makes a null.
  Value() = default;

  static Value Null() { return Value(); }
  static Value SimpleString(std::string text) {
    return Value(Type::kSimpleString, std::move(text));
  }
  static Value Error(std::string text) {
    return Value(Type::kError, std::move(text));
  }
  static Value Integer(int64_t number) { return Value(Type::kInteger, number); }
  static Value BulkString(std::string text) {
    return Value(Type::kBulkString, std::move(text));
  }
  static Value Array(std::vector<Value> elements) {
    return Value(Type::kArray, std::move(elements));
  }
  // Panics if the number of elements is odd.
  static Value Map(std::vector<Value> keys_and_values);
  static Value Set(std::vector<Value> elements) {
    return Value(Type::kSet, std::move(elements));
  }
  static Value Push(std::vector<Value> elements) {
    return Value(Type::kPush, std::move(elements));
  }
  static Value Double(double number) { return Value(Type::kDouble, number); }
  static Value Boolean(bool value) { return Value(Type::kBoolean, value); }
  static Value BigNumber(std::string digits) {
    return Value(Type::kBigNumber, std::move(digits));
  }
  // `text` begins with the format: three bytes and a colon.
  static Value VerbatimString(std::string text) {
    return Value(Type::kVerbatimString, std::move(text));
  }

  Type type() const { return type_; }
  bool IsNull() const { return type_ == Type::kNull; }
  bool IsError() const { return type_ == Type::kError; }

  // Returns whether the value has a text: a string, an error or a big number.
  bool HasText() const { return std::holds_alternative<std::string>(data_); }
  // Returns whether the value has elements: an array, a map, a set or a push.
  bool HasElements() const {
    return std::holds_alternative<std::vector<Value>>(data_);
  }

  const std::string& text() const& ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::get<std::string>(data_);
  }
  std::string text() && { return std::get<std::string>(std::move(data_)); }
  int64_t integer() const { return std::get<int64_t>(data_); }
  double number() const { return std::get<double>(data_); }
  bool boolean() const { return std::get<bool>(data_); }
  const std::vector<Value>& elements() const& ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::get<std::vector<Value>>(data_);
  }
  std::vector<Value> elements() && {
    return std::get<std::vector<Value>>(std::move(data_));
  }

  // Describes the value for messages and tests, as redis-cli prints it.
  std::string ToString() const;

  // Compares types and contents. A NaN equals no double.
  friend bool operator==(const Value& a, const Value& b);
  friend bool operator!=(const Value& a, const Value& b) { return !(a == b); }

 private:
  using Data = std::variant<std::monostate, int64_t, double, bool, std::string,
                            std::vector<Value>>;

  Value(Type type, Data data) : type_(type), data_(std::move(data)) {}

  Type type_ = Type::kNull;
  Data data_;
};

// Returns the name of a type, such as "an integer".
std::string_view TypeName(Value::Type type);

// Appends the bytes of `value` in version 2 or 3 of the protocol. Version 2 has
// fewer types: it writes a map, a set and a push as an array, a boolean as an
// integer, and a double and a big number as a bulk string.
void AppendValue(const Value& value, int protocol, std::string& out);

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_VALUE_H_
