// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/codec/delimited_message_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/codec.h"
#include "rouse/io/framed.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using namespace std::
    string_view_literals;  // NOLINT(google-build-using-namespace)

// What protoc would make of
//
//   message Text { string text = 1; }
//
// for texts of at most 127 bytes. A text cannot contain a "!".
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view text) : text_(text) {}

  const std::string& text() const { return text_; }

  size_t ByteSizeLong() const { return text_.empty() ? 0 : 2 + text_.size(); }
  bool SerializeToArray(void* data, int size) const {
    if (static_cast<size_t>(size) < ByteSizeLong()) return false;
    if (text_.find('!') != std::string::npos) return false;
    if (text_.empty()) return true;
    char* const bytes = static_cast<char*>(data);
    bytes[0] = 0x0A;  // field 1, with a length
    bytes[1] = static_cast<char>(text_.size());
    std::memcpy(bytes + 2, text_.data(), text_.size());
    return true;
  }
  bool ParseFromArray(const void* data, int size) {
    const std::string_view bytes(static_cast<const char*>(data),
                                 static_cast<size_t>(size));
    text_.clear();
    if (bytes.empty()) return true;
    if (bytes.size() < 2 || bytes[0] != 0x0A) return false;
    text_ = bytes.substr(2);
    return text_.size() == static_cast<uint8_t>(bytes[1]);
  }

 private:
  std::string text_;
};

// Has a required field.
class Required : public Text {
 public:
  bool IsInitialized() const { return false; }
};

// Serializes to any number of zeros.
class Zeros {
 public:
  Zeros() = default;
  explicit Zeros(size_t size) : size_(size) {}

  size_t size() const { return size_; }
  size_t ByteSizeLong() const { return size_; }
  bool SerializeToArray(void* data, int size) const {
    std::memset(data, 0, static_cast<size_t>(size));
    return true;
  }
  bool ParseFromArray(const void*, int size) {
    size_ = static_cast<size_t>(size);
    return true;
  }

 private:
  size_t size_ = 0;
};

using TextCodec = DelimitedMessageCodec<Text>;
static_assert(Codec<TextCodec>);
static_assert(!DelimitedMessage<std::string>);

std::string Describe(const absl::StatusOr<std::optional<Text>>& frame) {
  if (!frame.ok()) return absl::StatusCodeToString(frame.status().code());
  return frame->has_value() ? "'" + (*frame)->text() + "'" : "";
}

std::vector<std::string> DecodeTexts(TextCodec codec, std::string_view text,
                                     size_t step) {
  std::vector<std::string> frames;
  std::string buffer;
  const auto decode = [&](auto call) {
    for (;;) {
      std::string_view bytes = buffer;
      const std::string frame = Describe((codec.*call)(bytes));
      buffer = std::string(bytes);
      if (frame.empty()) return;
      frames.push_back(frame);
    }
  };
  while (!text.empty()) {
    buffer += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
    decode(&TextCodec::Decode);
  }
  decode(&TextCodec::DecodeEnd);
  return frames;
}

class DelimitedMessageCodecTest : public IoTest {};

// The bytes are those of protobuf's own SerializeDelimitedToOstream().
TEST_F(DelimitedMessageCodecTest, KnownBytesAreMessages) {
  const std::string_view bytes = "\x04\x0A\x02hi\x00\x07\x0A\x05there"sv;
  for (size_t step = 1; step <= bytes.size(); ++step) {
    EXPECT_THAT(DecodeTexts(TextCodec(), bytes, step),
                ElementsAre("'hi'", "''", "'there'"))
        << step;
  }
  TextCodec codec;
  std::string out;
  for (const std::string_view text : {"hi", "", "there"}) {
    ASSERT_TRUE(codec.Encode(Text(text), out).ok());
  }
  EXPECT_EQ(out, bytes);
}

TEST_F(DelimitedMessageCodecTest, SizesTakeAsManyBytesAsTheyNeed) {
  DelimitedMessageCodec<Zeros> codec;
  for (const auto& [size, head] :
       std::vector<std::pair<size_t, std::string_view>>{
           {0, "\x00"sv},
           {1, "\x01"sv},
           {127, "\x7F"sv},
           {128, "\x80\x01"sv},
           {300, "\xAC\x02"sv},
           {16383, "\xFF\x7F"sv},
           {16384, "\x80\x80\x01"sv},
           {2097152, "\x80\x80\x80\x01"sv}}) {
    std::string out = "before";
    ASSERT_TRUE(codec.Encode(Zeros(size), out).ok());
    EXPECT_EQ(out.substr(0, 6 + head.size()), "before" + std::string(head));
    EXPECT_EQ(out.size(), 6 + head.size() + size);
    std::string_view bytes = std::string_view(out).substr(6);
    const auto frame = codec.Decode(bytes);
    ASSERT_TRUE(frame.ok() && frame->has_value());
    EXPECT_EQ((*frame)->size(), size);
    EXPECT_EQ(bytes, "");
  }
}

// Protobuf accepts such sizes, too.
TEST_F(DelimitedMessageCodecTest, ALongFormOfASizeIsAccepted) {
  EXPECT_THAT(DecodeTexts(TextCodec(), "\x83\x80\x80\x00\x0A\x01x"sv, 1),
              ElementsAre("'x'"));
  EXPECT_THAT(
      DecodeTexts(TextCodec(),
                  "\x83\x80\x80\x80\x80\x80\x80\x80\x80\x00\x0A\x01x"sv, 1),
      ElementsAre("'x'"));
}

TEST_F(DelimitedMessageCodecTest, ASizeOfMoreThan64BitsIsInvalid) {
  TextCodec codec;
  std::string_view bytes = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv;
  EXPECT_EQ(Describe(codec.Decode(bytes)), "");
  EXPECT_EQ(bytes.size(), 9u);
  bytes = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\x03\x0A\x01x"sv;
  const auto frame = codec.Decode(bytes);
  EXPECT_EQ(frame.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(frame.status().message(), testing::HasSubstr("64 bits"));
  // The size has been taken, so the error does not return forever.
  EXPECT_EQ(Describe(codec.Decode(bytes)), "'x'");
  // A byte that would continue is already too much.
  bytes = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"sv;
  EXPECT_EQ(Describe(codec.Decode(bytes)), "INVALID_ARGUMENT");
  EXPECT_EQ(bytes, "");
}

TEST_F(DelimitedMessageCodecTest, ATooLargeMessageIsOneErrorHoweverItIsSplit) {
  const std::string_view bytes = "\x03\x0A\x01x\x05\x0A\x03xyz\x03\x0A\x01y"sv;
  for (size_t step = 1; step <= bytes.size(); ++step) {
    EXPECT_THAT(DecodeTexts(TextCodec(4), bytes, step),
                ElementsAre("'x'", "RESOURCE_EXHAUSTED", "'y'"))
        << step;
  }
}

TEST_F(DelimitedMessageCodecTest, ATooLargeMessageIsNotKept) {
  TextCodec codec(100);
  // The largest size that a varint can have.
  std::string_view bytes = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01rest"sv;
  const auto frame = codec.Decode(bytes);
  EXPECT_EQ(frame.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(frame.status().message(),
            "a message of 18446744073709551615 bytes exceeds the limit of 100");
  EXPECT_EQ(Describe(codec.Decode(bytes)), "");
  EXPECT_EQ(bytes, "");
}

TEST_F(DelimitedMessageCodecTest, BytesThatAreNoMessageAreOneError) {
  EXPECT_THAT(DecodeTexts(TextCodec(), "\x02\x08\x01\x03\x0A\x01y"sv, 2),
              ElementsAre("INVALID_ARGUMENT", "'y'"));
}

TEST_F(DelimitedMessageCodecTest, TheEndWithinAMessageIsOutOfRange) {
  const auto end = [](std::string_view bytes) {
    TextCodec codec(3);
    auto frame = codec.DecodeEnd(bytes);
    while (!frame.ok() && absl::IsResourceExhausted(frame.status())) {
      frame = codec.DecodeEnd(bytes);
    }
    EXPECT_EQ(bytes, "");
    EXPECT_EQ(Describe(codec.DecodeEnd(bytes)), "");
    return frame.status();
  };
  EXPECT_TRUE(end("").ok());
  EXPECT_EQ(end("\x80"),
            absl::OutOfRangeError("the stream ended within the size of a "
                                  "message"));
  EXPECT_EQ(end("\x03\x0A\x01"),
            absl::OutOfRangeError("the stream ended within a message"));
  EXPECT_EQ(end("\x05\x0A\x01"),
            absl::OutOfRangeError("the stream ended within a message"));
}

TEST_F(DelimitedMessageCodecTest, AnErrorOfEncodeAppendsNothing) {
  TextCodec codec(5);
  std::string out = "before";
  const absl::Status too_large = codec.Encode(Text("four"), out);
  EXPECT_EQ(too_large, absl::InvalidArgumentError(
                           "a message of 6 bytes exceeds the limit of 5"));
  EXPECT_EQ(codec.Encode(Text("no!"), out).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out, "before");
  ASSERT_TRUE(codec.Encode(Text("abc"), out).ok());
  EXPECT_EQ(out,
            "before\x05\x0A\x03"
            "abc");
}

TEST_F(DelimitedMessageCodecTest, AMessageWithoutItsRequiredFieldsIsInvalid) {
  const DelimitedMessageCodec<Required> codec;
  std::string out;
  const absl::Status status = codec.Encode(Required(), out);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr("required fields"));
  EXPECT_EQ(out, "");
}

TEST_F(DelimitedMessageCodecTest, AStreamIsAStreamOfMessages) {
  ScriptedReader reader;
  reader.Bytes("\x04\x0A"sv).Pending().Bytes("\x02hi\x03\x0A\x01y\x09"sv);
  Framed incoming(reader, TextCodec());
  EXPECT_EQ(Run(Next(incoming))->value().text(), "hi");
  EXPECT_EQ(Run(Next(incoming))->value().text(), "y");
  EXPECT_EQ(Run(Next(incoming))->status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(Run(Next(incoming)).has_value());
  ScriptedWriter writer;
  Framed outgoing(writer, TextCodec());
  ASSERT_TRUE(Run(outgoing.Send(Text("hi"))).ok());
  EXPECT_EQ(writer.written(), "\x04\x0A\x02hi");
}

TEST_F(DelimitedMessageCodecTest, TheLimitIsThatOfProtobuf) {
  TextCodec largest(size_t{0x7FFFFFFF});
  EXPECT_PANIC(TextCodec(size_t{1} << 31), "max_size must be below 2^31");
}

}  // namespace
}  // namespace rouse
