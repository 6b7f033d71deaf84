// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/value.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"

namespace mini_redis::resp {
namespace {

std::string ElementsToString(std::string_view begin,
                             const std::vector<Value>& elements,
                             std::string_view end) {
  std::string all(begin);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) all += ", ";
    all += elements[i].ToString();
  }
  all += end;
  return all;
}

}  // namespace

Value Value::Map(std::vector<Value> keys_and_values) {
  if (keys_and_values.size() % 2 != 0) {
    rouse::Panic("resp::Value::Map(): the last key has no value");
  }
  return Value(Type::kMap, std::move(keys_and_values));
}

std::string Value::ToString() const {
  switch (type_) {
    case Type::kNull:
      return "(nil)";
    case Type::kSimpleString:
    case Type::kBigNumber:
      return text();
    case Type::kError:
      return absl::StrCat("(error) ", text());
    case Type::kInteger:
      return absl::StrCat("(integer) ", integer());
    case Type::kBulkString:
    case Type::kVerbatimString:
      return absl::StrCat("\"", absl::CHexEscape(text()), "\"");
    case Type::kArray:
      return ElementsToString("[", elements(), "]");
    case Type::kMap:
      return ElementsToString("map{", elements(), "}");
    case Type::kSet:
      return ElementsToString("set{", elements(), "}");
    case Type::kPush:
      return ElementsToString("push[", elements(), "]");
    case Type::kDouble: {
      std::string text = "(double) ";
      AppendDouble(number(), text);
      return text;
    }
    case Type::kBoolean:
      return boolean() ? "(true)" : "(false)";
  }
  return "";
}

bool operator==(const Value& a, const Value& b) {
  return a.type_ == b.type_ && a.data_ == b.data_;
}

std::string_view TypeName(Value::Type type) {
  switch (type) {
    case Value::Type::kNull:
      return "a null";
    case Value::Type::kSimpleString:
      return "a simple string";
    case Value::Type::kError:
      return "an error";
    case Value::Type::kInteger:
      return "an integer";
    case Value::Type::kBulkString:
      return "a bulk string";
    case Value::Type::kArray:
      return "an array";
    case Value::Type::kMap:
      return "a map";
    case Value::Type::kSet:
      return "a set";
    case Value::Type::kPush:
      return "a push";
    case Value::Type::kDouble:
      return "a double";
    case Value::Type::kBoolean:
      return "a boolean";
    case Value::Type::kBigNumber:
      return "a big number";
    case Value::Type::kVerbatimString:
      return "a verbatim string";
  }
  return "a value of an unknown type";
}

void AppendValue(const Value& value, int protocol, std::string& out) {
  ReplyWriter reply(out, protocol);
  switch (value.type()) {
    case Value::Type::kNull:
      reply.Null();
      return;
    case Value::Type::kSimpleString:
      reply.SimpleString(value.text());
      return;
    case Value::Type::kError:
      reply.Error(value.text());
      return;
    case Value::Type::kInteger:
      reply.Integer(value.integer());
      return;
    case Value::Type::kBulkString:
      reply.Bulk(value.text());
      return;
    case Value::Type::kArray:
      reply.ArrayHeader(value.elements().size());
      break;
    case Value::Type::kMap:
      reply.MapHeader(value.elements().size() / 2);
      break;
    case Value::Type::kSet:
      reply.SetHeader(value.elements().size());
      break;
    case Value::Type::kPush:
      reply.PushHeader(value.elements().size());
      break;
    case Value::Type::kDouble:
      reply.Double(value.number());
      return;
    case Value::Type::kBoolean:
      reply.Boolean(value.boolean());
      return;
    case Value::Type::kBigNumber:
      reply.BigNumber(value.text());
      return;
    case Value::Type::kVerbatimString:
      reply.Verbatim(value.text());
      return;
  }
  for (const Value& element : value.elements()) {
    AppendValue(element, protocol, out);
  }
}

}  // namespace mini_redis::resp
