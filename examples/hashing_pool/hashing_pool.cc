// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the CRC32C of every file in a directory, in the order of the names:
//
//   tools/bazel run -c opt //examples/hashing_pool -- --jobs=4 /usr/include

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/crc/crc32c.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint32_t, jobs, 4, "How many files are hashed at once.");

namespace {

using Hash = absl::StatusOr<absl::crc32c_t>;
// The path of a file, and the blocking call that hashes the file.
using Job = std::pair<std::string, rouse::JoinHandle<Hash>>;

// Limits the results that wait for the result of an earlier, larger file.
constexpr size_t kMaxWaiting = 1024;
constexpr size_t kBlock = 128 << 10;  // bytes

// Blocks. Returns the files of a directory and of its subdirectories, sorted.
absl::StatusOr<std::vector<std::string>> ListFiles(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    const fs::file_type type = entry->symlink_status(error).type();
    if (type == fs::file_type::regular) paths.push_back(entry->path());
  }
  if (error) return absl::ErrnoToStatus(error.value(), root);
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Blocks. Nothing cancels a blocking call from outside: the call checks `stop`.
Hash HashFile(const std::string& path, const rouse::CancellationToken& stop) {
  FILE* const file = fopen(path.c_str(), "rbe");
  if (file == nullptr) return absl::ErrnoToStatus(errno, path);
  const absl::Cleanup close = [file] { fclose(file); };
  const auto buffer = std::make_unique<char[]>(kBlock);
  absl::crc32c_t hash(0);
  while (size_t size = fread(buffer.get(), 1, kBlock, file)) {
    if (stop.IsCancelled()) return absl::CancelledError(path);
    hash = absl::ExtendCrc32c(hash, std::string_view(buffer.get(), size));
  }
  if (ferror(file)) return absl::ErrnoToStatus(errno, path);
  return hash;
}

struct Totals {
  int files = 0;
  int errors = 0;
  size_t at_once = 0;  // the highest number of files that were hashed at once
};

// Starts a blocking call for each file. Without the permits, every file would
// have a call at once: up to 512 threads, and as many open files.
rouse::Co<> StartAll(const std::vector<std::string>& paths,
                     rouse::CancellationToken stop,
                     rouse::mpsc::Sender<Job> jobs, Totals& totals) {
  const size_t most = absl::GetFlag(FLAGS_jobs);
  const auto permits = std::make_shared<rouse::Semaphore>(most);
  for (const std::string& path : paths) {
    auto permit = co_await rouse::Semaphore::AcquireOwned(permits);
    if (!permit.ok() || stop.IsCancelled()) co_return;
    const size_t running = most - permits->available_permits();
    totals.at_once = std::max(totals.at_once, running);
    // The call keeps the permit until the call has ended.
    auto call = [path, stop, permit = *std::move(permit)] {
      return HashFile(path, stop);
    };
    Job job(path, rouse::SpawnBlocking(std::move(call)));
    (void)co_await jobs.Send(std::move(job));  // Print() receives to the end
  }
}

// Prints the hashes in the order of the jobs, and counts files and errors.
rouse::Co<> Print(rouse::mpsc::Receiver<Job> jobs, Totals& totals) {
  while (std::optional<Job> job = co_await jobs.Receive()) {
    Hash hash = co_await job->second;
    if (hash.ok()) {
      ++totals.files;
      absl::PrintF("%08x  %s\n", static_cast<uint32_t>(*hash), job->first);
    } else if (!absl::IsCancelled(hash.status())) {
      absl::FPrintF(stderr, "hashing_pool: %v\n", hash.status());
      ++totals.errors;
    }
  }
}

rouse::Co<absl::StatusOr<int>> Main(std::string root) {
  auto list = [root] { return ListFiles(root); };
  const std::vector<std::string> paths =
      co_await rouse::OrReturn(rouse::SpawnBlocking(std::move(list)));
  rouse::CancellationToken stop;
  auto [sender, receiver] = rouse::mpsc::Channel<Job>(kMaxWaiting);
  Totals totals;
  auto work = rouse::Join(StartAll(paths, stop, std::move(sender), totals),
                          Print(std::move(receiver), totals));
  // `work` is passed by reference, and so continues after a signal.
  auto first = co_await rouse::Select(work, rouse::ShutdownSignal());
  const bool stopped = first.index() == 1;
  if (stopped) {
    stop.Cancel();
    co_await work;
    co_await rouse::OrReturn(std::get<1>(first));
  }
  absl::FPrintF(stderr, "hashing_pool: %s%d files, %d errors, %d at once\n",
                stopped ? "stopped: " : "", totals.files, totals.errors,
                totals.at_once);
  co_return stopped ? 130 : totals.errors > 0;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("[--jobs=N] DIRECTORY");
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  if (words.size() != 2 || absl::GetFlag(FLAGS_jobs) == 0) {
    fprintf(stderr, "hashing_pool: name one directory; --jobs is 1 or more\n");
    return 1;
  }
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a line appears at once
  return rouse::RunMain(Main(words[1]));
}
