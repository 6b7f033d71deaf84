// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/byte_stream.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

class PrefixedIo final : public Io {
 public:
  PrefixedIo(std::string prefix, std::unique_ptr<Io> io)
      : prefix_(std::move(prefix)), unread_(prefix_), io_(std::move(io)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) override {
    if (unread_.empty()) return io_->PollRead(cx, buffer);
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    const size_t size = unread_.copy(buffer.data(), buffer.size());
    unread_.remove_prefix(size);
    unit->MadeProgress(size);
    return absl::StatusOr<size_t>(size);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) override {
    return io_->PollWrite(cx, data);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) override {
    return io_->PollWriteVectored(cx, parts);
  }
  PollResult<absl::Status> PollFlush(Context& cx) override {
    return io_->PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) override {
    return io_->PollShutdown(cx);
  }

 private:
  const std::string prefix_;
  std::string_view unread_;
  std::unique_ptr<Io> io_;
};

}  // namespace

ByteStream WithPrefix(std::string prefix, std::unique_ptr<Io> io) {
  if (prefix.empty()) return ByteStream(std::move(io));
  return ByteStream(
      std::make_unique<PrefixedIo>(std::move(prefix), std::move(io)));
}

}  // namespace rouse::http::internal
