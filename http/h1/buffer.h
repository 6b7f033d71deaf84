// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: buffer.h
// -----------------------------------------------------------------------------
//
// `Buffer` keeps bytes between a connection and a message: bytes are added at
// the end and taken from the front.

#ifndef ROUSE_HTTP_H1_BUFFER_H_
#define ROUSE_HTTP_H1_BUFFER_H_

#include "rouse/base/cxx20.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/types/span.h"

namespace rouse::http::internal {

// Buffer
//
// Not thread-safe. Any member that is not const invalidates the views that were
// returned before, except for `Consume()`.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : data_(std::move(other.data_)),
        capacity_(std::exchange(other.capacity_, 0)),
        begin_(std::exchange(other.begin_, 0)),
        end_(std::exchange(other.end_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::move(other.data_);
    capacity_ = std::exchange(other.capacity_, 0);
    begin_ = std::exchange(other.begin_, 0);
    end_ = std::exchange(other.end_, 0);
    return *this;
  }

  std::string_view view() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::string_view(data_.get() + begin_, end_ - begin_);
  }
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  size_t capacity() const { return capacity_; }

  // Returns room for at least `size` bytes behind the bytes. `Add()` says how
  // many of them were filled.
  absl::Span<char> Room(size_t size) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (capacity_ - end_ < size) MakeRoom(size);
    return absl::MakeSpan(data_.get() + end_, capacity_ - end_);
  }
  void Add(size_t size) { end_ += size; }

  void Append(std::string_view bytes) {
    const absl::Span<char> room = Room(bytes.size());
    bytes.copy(room.data(), bytes.size());
    end_ += bytes.size();
  }

  // Takes the first `size` bytes.
  void Consume(size_t size) {
    begin_ += size;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  void Clear() { begin_ = end_ = 0; }

  // Frees the memory of an empty buffer that is larger than `most`.
  void Shrink(size_t most) {
    if (!empty() || capacity_ <= most) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  ABSL_ATTRIBUTE_NOINLINE void MakeRoom(size_t size) {
    const size_t used = end_ - begin_;
    if (capacity_ - used >= size) {
      std::memmove(data_.get(), data_.get() + begin_, used);
    } else {
      const size_t larger = std::max(2 * capacity_, used + size);
      auto data = std::make_unique_for_overwrite<char[]>(larger);
      view().copy(data.get(), used);
      data_ = std::move(data);
      capacity_ = larger;
    }
    begin_ = 0;
    end_ = used;
  }

  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_BUFFER_H_
