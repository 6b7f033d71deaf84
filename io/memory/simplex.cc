// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/memory/simplex.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/io/memory/memory_pipe.h"

namespace rouse {

SimplexReader& SimplexReader::operator=(SimplexReader&& other) noexcept {
  // The replaced end is closed now, not when `other` is destroyed.
  SimplexReader replaced(std::move(other));
  std::swap(pipe_, replaced.pipe_);
  return *this;
}

SimplexReader::~SimplexReader() {
  if (pipe_ != nullptr) pipe_->CloseReader();
}

SimplexWriter& SimplexWriter::operator=(SimplexWriter&& other) noexcept {
  SimplexWriter replaced(std::move(other));
  std::swap(pipe_, replaced.pipe_);
  return *this;
}

SimplexWriter::~SimplexWriter() {
  if (pipe_ != nullptr) pipe_->CloseWriter();
}

std::pair<SimplexReader, SimplexWriter> Simplex(size_t capacity) {
  if (capacity == 0) Panic("Simplex: the capacity is 0; choose at least 1");
  auto pipe = std::make_shared<internal::MemoryPipe>("Simplex", capacity);
  return {SimplexReader(pipe), SimplexWriter(pipe)};
}

}  // namespace rouse
