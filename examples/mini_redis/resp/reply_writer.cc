// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/reply_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rouse/examples/mini_redis/resp/numbers.h"

namespace mini_redis::resp {

void ReplyWriter::BulkInteger(int64_t number) {
  std::string digits;  // has room for any number
  AppendInteger(number, digits);
  Bulk(digits);
}

void ReplyWriter::Double(double number) {
  if (protocol_ >= 3) {
    out_ += ',';
    AppendDouble(number, out_);
    out_ += "\r\n";
    return;
  }
  std::string digits;
  AppendDouble(number, digits);
  Bulk(digits);
}

void ReplyWriter::Boolean(bool value) {
  if (protocol_ >= 3) {
    out_ += value ? "#t\r\n" : "#f\r\n";
  } else {
    out_ += value ? ":1\r\n" : ":0\r\n";
  }
}

void ReplyWriter::BigNumber(std::string_view digits) {
  if (protocol_ >= 3) {
    Line('(', digits);
  } else {
    Bulk(digits);
  }
}

void ReplyWriter::Verbatim(std::string_view text) {
  if (protocol_ >= 3) {
    Sized('=', text);
  } else {
    Bulk(text.substr(std::min<size_t>(4, text.size())));
  }
}

void ReplyWriter::Line(char type, std::string_view text) {
  out_ += type;
  const size_t begin = out_.size();
  out_ += text;
  // A line end would begin another reply.
  for (size_t i = begin; i < out_.size(); ++i) {
    if (out_[i] == '\r' || out_[i] == '\n') out_[i] = ' ';
  }
  out_ += "\r\n";
}

void ReplyWriter::Number(char type, int64_t number) {
  out_ += type;
  AppendInteger(number, out_);
  out_ += "\r\n";
}

void ReplyWriter::Sized(char type, std::string_view text) {
  Number(type, static_cast<int64_t>(text.size()));
  out_ += text;
  out_ += "\r\n";
}

}  // namespace mini_redis::resp
