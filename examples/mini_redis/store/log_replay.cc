// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/log_replay.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/command_decoder.h"
#include "rouse/examples/mini_redis/store/log_file.h"

namespace mini_redis {
namespace {

constexpr size_t kReadSize = size_t{1} << 20;  // bytes

resp::CommandLimits NoLimits() {
  resp::CommandLimits limits;
  limits.max_arguments = std::numeric_limits<uint32_t>::max();
  limits.max_bulk_size = resp::Command::kMaxBytes;
  limits.max_request_size = resp::Command::kMaxBytes;
  return limits;
}

// Returns the number of digits at the beginning of `text`.
size_t CountDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && absl::ascii_isdigit(text[count])) ++count;
  return count;
}

// Returns whether `text` begins like a command: "*<number>\r\n$<number>\r\n".
bool BeginsLikeCommand(std::string_view text) {
  for (const char type : {'*', '$'}) {
    if (text.empty() || text.front() != type) return false;
    text.remove_prefix(1);
    const size_t digits = CountDigits(text);
    if (digits == 0 || text.substr(digits, 2) != "\r\n") return false;
    text.remove_prefix(digits + 2);
  }
  return true;
}

class Replay {
 public:
  Replay(DiskLogFile& file,
         absl::FunctionRef<absl::Status(const resp::Command&)> run)
      : file_(file), run_(run), decoder_(NoLimits()) {}

  absl::StatusOr<Replayed> Run() {
    std::string bytes;
    uint64_t read = 0;
    for (;;) {
      const absl::StatusOr<std::string> more = file_.Read(read, kReadSize);
      if (!more.ok()) return more.status();
      if (more->empty()) break;
      read += more->size();
      bytes += *more;
      std::string_view left = bytes;
      if (absl::Status status = RunSome(left); !status.ok()) return status;
      bytes.erase(0, bytes.size() - left.size());
    }
    const uint64_t end = in_transaction_ ? transaction_begin_ : begin_;
    replayed_.cut = read - end;
    if (replayed_.cut == 0) return replayed_;
    if (absl::Status status = CheckIncomplete(read); !status.ok()) {
      return status;
    }
    LOG(WARNING) << file_.path() << ": the last "
                 << (in_transaction_ ? "transaction" : "command")
                 << ", at offset " << end
                 << ", is incomplete, because a server was killed; the last "
                 << replayed_.cut << " bytes are cut off";
    if (absl::Status status = file_.Truncate(end); !status.ok()) return status;
    return replayed_;
  }

 private:
  absl::Status Damaged(uint64_t offset, std::string_view problem) const {
    return absl::DataLossError(absl::StrCat(
        file_.path(), " is damaged at offset ", offset, ": ", problem,
        "; restore the file from a backup, or keep what is before the damage: "
        "truncate -s ",
        in_transaction_ ? transaction_begin_ : offset, " ", file_.path()));
  }

  // Runs the complete commands of `bytes`, and takes them off.
  absl::Status RunSome(std::string_view& bytes) {
    for (;;) {
      // The decoder would accept a line of words, too.
      if (!decoder_.IsWithinRequest() && !bytes.empty() &&
          bytes.front() != '*') {
        return Damaged(begin_, "no command begins here");
      }
      const size_t before = bytes.size();
      const absl::StatusOr<bool> complete =
          decoder_.DecodeInto(bytes, command_);
      position_ += before - bytes.size();
      if (!complete.ok()) return Damaged(begin_, complete.status().message());
      if (!*complete) return absl::OkStatus();
      if (absl::Status status = RunOrQueue(); !status.ok()) {
        return Damaged(begin_, status.message());
      }
      begin_ = position_;
    }
  }

  absl::Status RunOrQueue() {
    const std::string_view name = command_[0];
    if (name == "MULTI") {
      if (in_transaction_) {
        return absl::DataLossError("a transaction within a transaction");
      }
      in_transaction_ = true;
      transaction_begin_ = begin_;
      return absl::OkStatus();
    }
    if (name == "EXEC") {
      if (!in_transaction_) {
        return absl::DataLossError("the end of a transaction without a begin");
      }
      for (const resp::Command& command : queue_) {
        ++replayed_.commands;
        if (absl::Status status = run_(command); !status.ok()) return status;
      }
      in_transaction_ = false;
      queue_.clear();
      return absl::OkStatus();
    }
    if (in_transaction_) {
      queue_.push_back(std::move(command_));
      return absl::OkStatus();
    }
    ++replayed_.commands;
    return run_(command_);
  }

  // Checks that the incomplete command at the end of the file contains nothing
  // that looks like a command.
  absl::Status CheckIncomplete(uint64_t size) const {
    // Overlaps, so that no beginning is cut in two.
    constexpr size_t kOverlap = 64;  // bytes
    for (uint64_t offset = begin_; offset < size;
         offset += kReadSize - kOverlap) {
      const absl::StatusOr<std::string> bytes = file_.Read(offset, kReadSize);
      if (!bytes.ok()) return bytes.status();
      for (size_t at = bytes->find("\r\n*"); at != std::string::npos;
           at = bytes->find("\r\n*", at + 1)) {
        if (BeginsLikeCommand(std::string_view(*bytes).substr(at + 2))) {
          return Damaged(begin_,
                         absl::StrCat("the command never ends, but another "
                                      "command seems to begin at offset ",
                                      offset + at + 2));
        }
      }
    }
    return absl::OkStatus();
  }

  DiskLogFile& file_;
  absl::FunctionRef<absl::Status(const resp::Command&)> run_;
  resp::CommandDecoder decoder_;
  resp::Command command_;
  Replayed replayed_;

  // Offsets in the file: behind the decoded bytes, and at the beginning of the
  // current command.
  uint64_t position_ = 0;
  uint64_t begin_ = 0;

  bool in_transaction_ = false;
  uint64_t transaction_begin_ = 0;
  std::vector<resp::Command> queue_;
};

}  // namespace

absl::StatusOr<Replayed> ReplayLog(
    DiskLogFile& file,
    absl::FunctionRef<absl::Status(const resp::Command&)> run) {
  return Replay(file, run).Run();
}

}  // namespace mini_redis
