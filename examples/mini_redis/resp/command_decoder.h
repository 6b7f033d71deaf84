// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: command_decoder.h
// -----------------------------------------------------------------------------
//
// Reads the requests of a client, in either form that Redis accepts:
//
//   *2\r\n$3\r\nGET\r\n$3\r\nkey\r\n     an array of bulk strings
//   GET key\r\n                          a line of words, as typed by a person
//
// A server reads the requests from a `rouse::Framed`:
//
//   rouse::Framed requests(std::move(stream), CommandDecoder(limits));
//   while (auto command = co_await rouse::Next(requests)) {
//     if (!command->ok()) {
//       // Answer "-ERR " and the message, and close the connection.
//     }
//     Execute(**command);
//   }

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_COMMAND_DECODER_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_COMMAND_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/command.h"

namespace mini_redis::resp {

// What a client can make the server keep in memory for one request.
struct CommandLimits {
  // Largest number of arguments, including the command's name.
  size_t max_arguments = size_t{1} << 20;
  // Largest size of one argument.
  size_t max_bulk_size = size_t{64} << 20;  // bytes
  // Largest size of a request that is a line, and of a line with a number.
  size_t max_inline_size = size_t{64} << 10;  // bytes
  // Largest sum of the sizes of all arguments. At most `Command::kMaxBytes`.
  size_t max_request_size = size_t{128} << 20;  // bytes
};

// CommandDecoder
//
// A `rouse::Codec` of requests. Its memory grows with the bytes that have
// arrived, and never with a length that a client has only claimed: a length
// beyond the limit is refused as soon as the line with the length is complete.
// Empty requests are skipped, as Redis does.
//
// An error is a protocol error: nothing behind the error can be understood, so
// the decoder discards all further bytes. The message is the text that Redis
// would send after "-ERR ".
//
//   InvalidArgument     The bytes are not a request.
//   ResourceExhausted   A limit is exceeded.
//   OutOfRange          The stream has ended within a request.
class CommandDecoder {
 public:
  using Frame = Command;

  explicit CommandDecoder(const CommandLimits& limits = CommandLimits());

  absl::StatusOr<std::optional<Command>> Decode(std::string_view& bytes);
  absl::StatusOr<std::optional<Command>> DecodeEnd(std::string_view& bytes);
  absl::Status Encode(const Command& command, std::string& out) const;

  // Decodes like `Decode()`, but into an existing `command`, whose memory is
  // used again. Returns whether a command was complete. If not, `command` is
  // unchanged.
  absl::StatusOr<bool> DecodeInto(std::string_view& bytes, Command& command);

  // Returns whether a request has begun and is not complete, or whether an
  // error was found. The bytes that are still in the caller's buffer do not
  // count.
  bool IsWithinRequest() const { return state_ != State::kStart; }

 private:
  enum class State {
    kStart,     // before the first byte of a request
    kLength,    // before the line with the length of an argument
    kArgument,  // within an argument
    kBroken,    // behind a protocol error
  };

  absl::Status DecodeSome(std::string_view& bytes, bool& complete);
  absl::Status DecodeInline(std::string_view& bytes, bool& complete);
  absl::Status DecodeCount(std::string_view& bytes);
  absl::Status DecodeLength(std::string_view& bytes);
  absl::Status DecodeArgument(std::string_view& bytes, bool& complete);

  // Finds the end of the first line. Returns whether there is a line; if not,
  // remembers what has been searched.
  bool FindLine(std::string_view bytes, std::string_view& line);

  CommandLimits limits_;
  State state_ = State::kStart;
  // Number of arguments that are still to come.
  size_t arguments_left_ = 0;
  // Number of bytes of the current argument that are still to come.
  size_t argument_left_ = 0;
  // Number of bytes, of those given last, that contain no line end.
  size_t searched_ = 0;
  // The arguments so far.
  Command command_;
};

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_COMMAND_DECODER_H_
