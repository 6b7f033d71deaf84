// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reply_writer.h
// -----------------------------------------------------------------------------
//
// Writes replies without making a `Value` of each:
//
//   ReplyWriter reply(out, connection.protocol);
//   reply.ArrayHeader(2);
//   reply.Bulk("a");
//   reply.Integer(1);

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_REPLY_WRITER_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_REPLY_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"

namespace mini_redis::resp {

// ReplyWriter
//
// Appends replies to a string. A header is followed by as many replies as it
// says. A type that version 2 of the protocol lacks is written as Redis writes
// it to a client of version 2.
class ReplyWriter {
 public:
  // `protocol` is 2 or 3.
  explicit ReplyWriter(std::string& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
                       int protocol = 2)
      : out_(out), protocol_(protocol) {}

  int protocol() const { return protocol_; }
  std::string& out() { return out_; }

  void Ok() { out_ += "+OK\r\n"; }

  // `text` must not contain a line end; a line end is replaced by a space.
  void SimpleString(std::string_view text) { Line('+', text); }

  // `text` begins with a code in capitals, such as "ERR unknown command". A
  // line end is replaced by a space.
  void Error(std::string_view text) { Line('-', text); }

  void Integer(int64_t number) { Number(':', number); }

  void Bulk(std::string_view text) { Sized('$', text); }

  // Writes a number as a bulk string, as GET does for a counter.
  void BulkInteger(int64_t number);

  // Writes the null of a missing value: "$-1" in version 2.
  void Null() { out_ += protocol_ >= 3 ? "_\r\n" : "$-1\r\n"; }

  // Writes the null of a missing array, such as the reply of a BLPOP without an
  // element: "*-1" in version 2.
  void NullArray() { out_ += protocol_ >= 3 ? "_\r\n" : "*-1\r\n"; }

  void ArrayHeader(size_t elements) { Header('*', elements); }
  void SetHeader(size_t elements) {
    Header(protocol_ >= 3 ? '~' : '*', elements);
  }
  void PushHeader(size_t elements) {
    Header(protocol_ >= 3 ? '>' : '*', elements);
  }

  // `pairs` keys, each followed by its value.
  void MapHeader(size_t pairs) {
    Header(protocol_ >= 3 ? '%' : '*', protocol_ >= 3 ? pairs : 2 * pairs);
  }

  void Double(double number);
  void Boolean(bool value);

  // `digits` is a decimal number of any length.
  void BigNumber(std::string_view digits);

  // `text` begins with the format: three bytes and a colon, such as "txt:".
  // Version 2 gets the text without the format.
  void Verbatim(std::string_view text);

 private:
  void Line(char type, std::string_view text);
  void Number(char type, int64_t number);
  void Sized(char type, std::string_view text);
  void Header(char type, size_t size) {
    Number(type, static_cast<int64_t>(size));
  }

  std::string& out_;
  int protocol_;
};

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_REPLY_WRITER_H_
