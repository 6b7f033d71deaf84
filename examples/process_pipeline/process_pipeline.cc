// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a pipeline of commands, as a shell does:
//
//   tools/bazel run -c opt //examples/process_pipeline -- --timeout=10s --
//       ls /usr/lib '|' cut -d . -f 1 '|' uniq -c

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/rouse.h"

ABSL_FLAG(absl::Duration, timeout, absl::InfiniteDuration(),
          "How long the pipeline may run before every command is killed.");

namespace {

constexpr size_t kMaxLine = 64 << 10;  // bytes

void Say(std::string_view text) {
  absl::FPrintF(stderr, "process_pipeline: %s\n", text);
}

// A command of the pipeline that has been started.
struct Stage {
  Stage(std::string name, rouse::Child child)
      : name(std::move(name)), child(std::move(child)) {}

  std::string name;
  rouse::Child child;
  absl::StatusOr<rouse::ExitStatus> status = absl::UnknownError("still runs");
};

// Feeds the output of one command to the next command. The end of the coroutine
// closes both pipes: the reader finds the end of its input, and the writer gets
// SIGPIPE if it writes more, as in a shell.
rouse::Co<> Connect(rouse::ChildStdout from, rouse::ChildStdin to) {
  absl::StatusOr<uint64_t> copied = co_await rouse::Copy(from, to);
  // FailedPrecondition: the reader needs no more input, as `head` does.
  if (!copied.ok() && !absl::IsFailedPrecondition(copied.status())) {
    Say(copied.status().ToString());
  }
}

// Prints each line of a command's standard error after the command's name. A
// line that is too long is printed in parts.
rouse::Co<> PrintErrors(rouse::ChildStderr from, std::string_view name) {
  rouse::BufReader reader(std::move(from));
  for (;;) {
    std::string line;
    auto read = co_await rouse::ReadLine(reader, line, kMaxLine);
    if (read.ok() ? !*read : !absl::IsResourceExhausted(read.status())) break;
    absl::FPrintF(stderr, "%s: %s\n", name, line);
  }
}

rouse::Co<> Wait(Stage& stage) { stage.status = co_await stage.child.Wait(); }

// Prints each status. Returns the status of the last command that failed, or 0,
// as a shell does after `set -o pipefail`.
int Report(const std::vector<Stage>& stages) {
  int result = 0;
  for (const auto& [name, child, status] : stages) {
    Say(absl::StrCat(
        name, ": ",
        status.ok() ? absl::StrCat(*status) : status.status().ToString()));
    if (!status.ok()) result = 1;
    if (!status.ok() || status->IsSuccess()) continue;
    result = status->code().value_or(128 + status->signal().value_or(0));
  }
  return result;
}

rouse::Co<absl::StatusOr<int>> Main(
    std::vector<std::vector<std::string>> commands) {
  using rouse::Stdio;
  std::vector<Stage> stages;
  stages.reserve(commands.size());  // the coroutines refer to the stages
  for (const std::vector<std::string>& words : commands) {
    const bool is_last = stages.size() + 1 == commands.size();
    absl::StatusOr<rouse::Child> child =
        rouse::Command(words[0])
            .Args({words.begin() + 1, words.end()})
            .Stdin(stages.empty() ? Stdio::Inherit() : Stdio::Piped())
            .Stdout(is_last ? Stdio::Inherit() : Stdio::Piped())
            .Stderr(Stdio::Piped())
            .KillOnDrop()
            .Spawn();
    if (!child.ok()) co_return child.status();  // also kills the others
    stages.emplace_back(words[0], *std::move(child));
  }
  // One task, because a `Child` is for a single task: `Wait()` and `Kill()`.
  std::vector<rouse::Co<>> jobs;
  for (size_t i = 0; i < stages.size(); ++i) {
    rouse::Child& child = stages[i].child;
    jobs.push_back(PrintErrors(*child.TakeStderr(), stages[i].name));
    jobs.push_back(Wait(stages[i]));
    if (i == 0) continue;
    jobs.push_back(
        Connect(*stages[i - 1].child.TakeStdout(), *child.TakeStdin()));
  }
  auto all = rouse::JoinAll(std::move(jobs));
  // `all` is passed by reference, so that it can continue after the kill.
  auto ended =
      co_await rouse::Timeout(absl::GetFlag(FLAGS_timeout),
                              rouse::Select(all, rouse::ShutdownSignal()));
  if (ended.ok() && ended->index() == 0) co_return Report(stages);
  for (Stage& stage : stages) (void)stage.child.Kill();
  // A process that a command left behind may keep a pipe open: wait no longer.
  (void)co_await rouse::Timeout(absl::Seconds(2), all);
  Report(stages);
  if (ended.ok()) co_await rouse::OrReturn(std::get<1>(*ended));
  Say(ended.ok() ? "killed by a signal" : "killed after --timeout");
  co_return ended.ok() ? 130 : 124;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "[--timeout=TIME] -- COMMAND [ARGUMENT...] ['|' COMMAND...]");
  std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  std::vector<std::vector<std::string>> commands(1);
  for (std::string_view word : absl::MakeSpan(words).subspan(1)) {
    if (word != "|") commands.back().emplace_back(word);
    if (word == "|") commands.emplace_back();
  }
  if (absl::c_any_of(commands, [](const auto& c) { return c.empty(); })) {
    Say("a command is empty; write -- COMMAND '|' COMMAND");
    return 1;
  }
  return rouse::RunMain(Main(std::move(commands)));
}
