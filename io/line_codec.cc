#include "rouse/io/line_codec.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rouse {
namespace {

std::string_view WithoutReturn(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

absl::Status LineCodec::TooLong() const {
  return absl::ResourceExhaustedError(
      absl::StrCat("a line has more than ", max_size_, " bytes"));
}

absl::StatusOr<std::optional<std::string>> LineCodec::Decode(
    std::string_view& bytes) {
  for (;;) {
    const size_t end = bytes.find('\n', searched_);
    if (end == std::string_view::npos) {
      searched_ = bytes.size();
      if (passing_over_) {
        bytes = {};
        searched_ = 0;
        return std::nullopt;
      }
      // One byte more may be the first one of the end.
      if (bytes.empty() || bytes.size() - 1 <= max_size_) return std::nullopt;
      bytes = {};
      searched_ = 0;
      passing_over_ = true;
      return TooLong();
    }
    const std::string_view line = WithoutReturn(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    searched_ = 0;
    if (std::exchange(passing_over_, false)) continue;
    if (line.size() > max_size_) return TooLong();
    return std::string(line);
  }
}

absl::StatusOr<std::optional<std::string>> LineCodec::DecodeEnd(
    std::string_view& bytes) {
  absl::StatusOr<std::optional<std::string>> line = Decode(bytes);
  if (!line.ok() || line->has_value() || bytes.empty()) return line;
  const std::string_view last = std::exchange(bytes, {});
  searched_ = 0;
  if (last.size() > max_size_) return TooLong();
  return std::string(last);
}

absl::Status LineCodec::Encode(std::string_view line, std::string& out) const {
  if (line.size() > max_size_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a line of ", line.size(), " bytes; the most is ", max_size_));
  }
  if (line.find('\n') != std::string_view::npos ||
      WithoutReturn(line).size() != line.size()) {
    return absl::InvalidArgumentError(
        "there is an end of line in the line; send them one by one");
  }
  absl::StrAppend(&out, line, "\n");
  return absl::OkStatus();
}

}  // namespace rouse
