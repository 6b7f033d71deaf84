// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cost of reading files: by a call on the same thread ("Direct"), by
// `File`, which tries the page cache first ("File"), by the blocking pool alone
// ("Pool"), and by io_uring alone ("Ring"), if the program is linked with it:
//
//   tools/bazel run -c opt //fs/uring:file_benchmark

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "rouse/fs/backend.h"
#include "rouse/fs/file.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/fs/whole_file.h"
#include "rouse/future/co.h"
#include "rouse/future/many/join_all.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/spawn_blocking.h"

namespace {

std::atomic<uint64_t> allocated{0};

}  // namespace

// Counts the bytes of each operation. The blocks of `FramePool` are not
// counted.
void* operator new(size_t size) {
  // Relaxed: a mere counter.
  allocated.fetch_add(size, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace rouse::fs {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kFileSize = 64 * kMiB;

// Makes reads on the blocking pool, without a try of the page cache.
class PoolBackend : public Backend {
 public:
  Operation<std::string> ReadAt(File file, uint64_t offset,
                                size_t size) override {
    return Operation<std::string>([file = std::move(file), offset, size] {
      return internal::ReadFdAt(file.fd(), file.path(), offset, size);
    });
  }
  Operation<void> WriteAt(File file, uint64_t offset,
                          std::string data) override {
    return file.WriteAt(offset, std::move(data));
  }
  Operation<void> Sync(File file) override { return file.Sync(); }
  Operation<void> SyncData(File file) override { return file.SyncData(); }
};

// A file in the page cache.
class TemporaryFile {
 public:
  explicit TemporaryFile(size_t size) {
    std::string path = "/var/tmp/rouse-fs-XXXXXX";
    fd_ = mkstemp(path.data());
    CHECK_GE(fd_, 0);
    path_ = path;
    CHECK_OK(internal::WriteFd(fd_, path_, std::string(size, 'x')));
    CHECK_OK(internal::SyncFd(fd_, path_));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    close(fd_);
    unlink(path_.c_str());
  }

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

const TemporaryFile& LargeFile() {
  static const TemporaryFile file(kFileSize);
  return file;
}

enum class By { kFile, kPool, kRing };

struct Reads {
  size_t size;
  int at_once;
  bool cold = false;  // not in the page cache
};

// Offsets that visit the whole file, without a pattern that the kernel knows.
class Offsets {
 public:
  explicit Offsets(size_t size) : size_(size) {}
  uint64_t Next() {
    at_ = (at_ + uint64_t{7919} * 4096) % (kFileSize - size_);
    return at_ & ~uint64_t{4095};
  }

 private:
  size_t size_;
  uint64_t at_ = 0;
};

void Evict(int fd, const Reads& reads, benchmark::State& state) {
  if (!reads.cold) return;
  state.PauseTiming();
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  state.ResumeTiming();
}

void SetCounters(benchmark::State& state, const Reads& reads, uint64_t before) {
  const auto count = static_cast<double>(state.iterations() * reads.at_once);
  state.SetItemsProcessed(static_cast<int64_t>(count));
  state.counters["B/op"] =
      static_cast<double>(allocated.load(std::memory_order_relaxed) - before) /
      count;
}

void BM_Direct(benchmark::State& state, Reads reads) {
  const TemporaryFile& file = LargeFile();
  Offsets offsets(reads.size);
  const uint64_t before = allocated.load(std::memory_order_relaxed);
  for (auto _ : state) {
    Evict(file.fd(), reads, state);
    // All results exist at once, as with operations.
    std::vector<absl::StatusOr<std::string>> all;
    for (int i = 0; i < reads.at_once; ++i) {
      all.push_back(internal::ReadFdAt(file.fd(), file.path(), offsets.Next(),
                                       reads.size));
      CHECK_EQ(all.back()->size(), reads.size);
    }
  }
  SetCounters(state, reads, before);
}

Co<> ReadOften(benchmark::State& state, File file,
               std::shared_ptr<Backend> backend, Reads reads) {
  Offsets offsets(reads.size);
  const auto begin = [&] {
    const uint64_t offset = offsets.Next();
    return backend != nullptr ? backend->ReadAt(file, offset, reads.size)
                              : file.ReadAt(offset, reads.size);
  };
  for (auto _ : state) {
    Evict(file.fd(), reads, state);
    if (reads.at_once == 1) {
      auto read = begin();
      auto bytes = co_await std::move(read);
      CHECK_EQ(bytes->size(), reads.size);
      continue;
    }
    std::vector<Operation<std::string>> all;
    all.reserve(static_cast<size_t>(reads.at_once));
    for (int i = 0; i < reads.at_once; ++i) all.push_back(begin());
    auto join = JoinAll(std::move(all));
    for (const auto& bytes : co_await std::move(join)) {
      CHECK_EQ(bytes->size(), reads.size);
    }
  }
}

void BM_Read(benchmark::State& state, By by, Reads reads) {
  Runtime runtime = Builder::CurrentThread().Build().value();
  const EnterGuard enter = runtime.Enter();
  std::shared_ptr<Backend> backend;
  if (by == By::kPool) backend = std::make_shared<PoolBackend>();
  if (by == By::kRing) {
    if (TestBackend() == nullptr) {
      state.SkipWithError("run //fs/uring:file_benchmark");
      return;
    }
    auto ring = TestBackend()();
    if (!ring.ok()) {
      state.SkipWithError(ring.status().ToString().c_str());
      return;
    }
    backend = *std::move(ring);
  }
  File file = runtime.BlockOn(File::Open(LargeFile().path())).value();
  const uint64_t before = allocated.load(std::memory_order_relaxed);
  runtime.BlockOn(ReadOften(state, std::move(file), std::move(backend), reads));
  SetCounters(state, reads, before);
}

// The CPU time is that of all threads.
#define MEASURE(...) \
  BENCHMARK_CAPTURE(__VA_ARGS__)->UseRealTime()->MeasureProcessCPUTime();

// clang-format off
#define READS(name, ...)                                       \
  MEASURE(BM_Direct, name, Reads{__VA_ARGS__})                 \
  MEASURE(BM_Read, name/File, By::kFile, Reads{__VA_ARGS__})   \
  MEASURE(BM_Read, name/Pool, By::kPool, Reads{__VA_ARGS__})   \
  MEASURE(BM_Read, name/Ring, By::kRing, Reads{__VA_ARGS__})

READS(4K, 4096, 1)
READS(4Kx8, 4096, 8)
READS(4Kx64, 4096, 64)
READS(16K, 16 << 10, 1)
READS(64K, 64 << 10, 1)
READS(64Kx64, 64 << 10, 64)
READS(256K, 256 << 10, 1)
READS(1M, 1 << 20, 1)
READS(Cold4K, 4096, 1, true)
READS(Cold4Kx8, 4096, 8, true)
READS(Cold4Kx64, 4096, 64, true)
// clang-format on

// All reads of 4 KiB by one call on the pool, in comparison with 4Kx64/Pool.
void BM_Batch(benchmark::State& state) {
  const TemporaryFile& file = LargeFile();
  Runtime runtime = Builder::CurrentThread().Build().value();
  Offsets offsets(4096);
  const auto read_often = [&]() -> Co<> {
    for (auto _ : state) {
      const auto read = [&] {
        for (int i = 0; i < 64; ++i) {
          auto bytes =
              internal::ReadFdAt(file.fd(), file.path(), offsets.Next(), 4096);
          CHECK_EQ(bytes->size(), 4096u);
        }
      };
      CHECK_OK(co_await SpawnBlocking(read));
    }
  };
  runtime.BlockOn(read_often());
  state.SetItemsProcessed(state.iterations() * 64);
}
BENCHMARK(BM_Batch)->UseRealTime()->MeasureProcessCPUTime();

void BM_ReadFile(benchmark::State& state) {
  const TemporaryFile file(kMiB);
  Runtime runtime = Builder::CurrentThread().Build().value();
  const auto read_often = [&]() -> Co<> {
    for (auto _ : state) {
      auto read = ReadFile(file.path());
      auto bytes = co_await std::move(read);
      CHECK_EQ(bytes->size(), kMiB);
    }
  };
  runtime.BlockOn(read_often());
}
BENCHMARK(BM_ReadFile)->UseRealTime()->MeasureProcessCPUTime();

void BM_ReadFileDirect(benchmark::State& state) {
  const TemporaryFile file(kMiB);
  for (auto _ : state) {
    auto fd = internal::OpenFd(file.path(), O_RDONLY, 0);
    auto bytes = internal::ReadFdAt(fd->get(), file.path(), 0, kMiB);
    CHECK_EQ(bytes->size(), kMiB);
  }
}
BENCHMARK(BM_ReadFileDirect)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace rouse::fs
