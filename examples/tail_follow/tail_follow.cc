// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints what is appended to a file, as `tail -n 0 -F` does. If another file
// takes the path, as after the rotation of a log, follows the new file:
//
//   tools/bazel run -c opt //examples/tail_follow -- /var/log/app.log

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "rouse/fs/file.h"
#include "rouse/fs/file_reader.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/paths.h"
#include "rouse/fs/watcher.h"
#include "rouse/rouse.h"

ABSL_FLAG(bool, from_start, false, "Whether what the file has is printed too.");

namespace {

namespace fs = rouse::fs;

void Say(std::string_view text) {
  absl::FPrintF(stderr, "tail_follow: %s\n", text);
}

bool IsSameFile(const fs::Metadata& a, const fs::Metadata& b) {
  return a.raw().st_dev == b.raw().st_dev && a.raw().st_ino == b.raw().st_ino;
}

// Follows one path. The events of the watcher only say that it is time to look:
// each look finds out by itself what has happened. So it does not matter if
// events are lost or merged, or if a file changes again before the look.
class Follower {
 public:
  explicit Follower(std::string path) : path_(std::move(path)) {}

  rouse::Co<absl::Status> Run() {
    const size_t slash = path_.rfind('/');
    const std::string directory =
        slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    const std::string name =
        slash == std::string::npos ? path_ : path_.substr(slash + 1);
    auto create = fs::Watcher::Create();
    fs::Watcher watcher = co_await rouse::OrReturn(std::move(create));
    // The directory, because a watch of the file would go with the file when it
    // is renamed. Before the first look, so that no change is missed.
    auto add = watcher.Add(directory);
    co_await rouse::OrReturn(add);
    auto look = Look(/*is_first=*/true);
    co_await rouse::OrReturn(look);
    Say(absl::StrCat("following ", path_));
    for (;;) {
      std::optional<absl::StatusOr<fs::WatchEvent>> event =
          co_await rouse::Next(watcher);
      if (!event.has_value()) co_return absl::OkStatus();
      if (!event->ok()) co_return event->status();
      const fs::WatchKind kind = (*event)->kind;
      if (kind == fs::WatchKind::kEnded) {
        co_return absl::NotFoundError(
            absl::StrCat("the directory ", directory, " was removed"));
      }
      if (kind != fs::WatchKind::kOverflow && (*event)->name != name) continue;
      auto again = Look(/*is_first=*/false);
      co_await rouse::OrReturn(again);
    }
  }

 private:
  // Prints what is new.
  rouse::Co<absl::Status> Look(bool is_first) {
    auto get = fs::GetMetadata(path_);
    absl::StatusOr<fs::Metadata> now = co_await std::move(get);
    // After the look at the path: what was appended before the renaming must
    // not be lost.
    if (reader_.has_value()) {
      auto rest = PrintRest();
      co_await rouse::OrReturn(rest);
    }
    if (absl::IsNotFound(now.status())) co_return absl::OkStatus();
    if (!now.ok()) co_return now.status();
    if (reader_.has_value() && IsSameFile(*metadata_, *now)) {
      co_return absl::OkStatus();
    }
    auto open = fs::File::Open(path_);
    absl::StatusOr<fs::File> file = co_await std::move(open);
    // Another look follows when the next file takes the path.
    if (absl::IsNotFound(file.status())) co_return absl::OkStatus();
    if (!file.ok()) co_return file.status();
    // Of the open file: the path may lead to another one by now.
    auto get_opened = file->GetMetadata();
    metadata_ = co_await rouse::OrReturn(get_opened);
    const bool skips = is_first && !absl::GetFlag(FLAGS_from_start);
    if (!is_first) Say("a new file");
    reader_.emplace(*std::move(file), skips ? metadata_->size() : 0);
    auto rest = PrintRest();
    co_return co_await std::move(rest);
  }

  // Prints the open file from the position to the end.
  rouse::Co<absl::Status> PrintRest() {
    auto get = reader_->file().GetMetadata();
    const fs::Metadata now = co_await rouse::OrReturn(get);
    if (now.size() < reader_->position()) {
      Say("the file was cut off");
      reader_->Seek(0);
    }
    std::vector<char> buffer(64 << 10);
    for (;;) {
      auto read = rouse::Read(*reader_, absl::MakeSpan(buffer));
      const size_t size = co_await rouse::OrReturn(read);
      if (size == 0) break;
      std::fwrite(buffer.data(), 1, size, stdout);
    }
    std::fflush(stdout);
    co_return absl::OkStatus();
  }

  std::string path_;
  std::optional<fs::FileReader> reader_;  // empty before a file exists
  std::optional<fs::Metadata> metadata_;  // of the open file
};

rouse::Co<absl::Status> Main(std::string path) {
  Follower follower(std::move(path));
  auto race = rouse::Race(follower.Run(), rouse::ShutdownSignal());
  co_return co_await std::move(race);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("[--from_start] PATH");
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  if (words.size() != 2) {
    Say("name one file: tail_follow [--from_start] PATH");
    return 1;
  }
  return rouse::RunMain(Main(words[1]));
}
