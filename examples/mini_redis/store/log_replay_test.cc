// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/log_replay.h"

#include <cstddef>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/store/log_file.h"

namespace mini_redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Encode(const resp::Command& command) {
  std::string bytes;
  resp::AppendCommand(command, bytes);
  return bytes;
}

class LogReplayTest : public testing::Test {
 protected:
  void Write(std::string_view bytes) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file << bytes;
  }
  std::string Contents() const {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  // Replays the file. `replayed_` has the commands, with spaces.
  absl::StatusOr<Replayed> Replay() {
    replayed_.clear();
    absl::StatusOr<std::shared_ptr<DiskLogFile>> file =
        DiskLogFile::Open(path_);
    if (!file.ok()) return file.status();
    auto run = [this](const resp::Command& command) -> absl::Status {
      if (command[0] == "BAD") return absl::DataLossError("a bad command");
      std::string text(command[0]);
      for (size_t i = 1; i < command.size(); ++i) {
        absl::StrAppend(&text, " ", command[i]);
      }
      replayed_.push_back(text);
      return absl::OkStatus();
    };
    return ReplayLog(**file, run);
  }

  const std::string path_ = testing::TempDir() + "/replay.aof";
  std::vector<std::string> replayed_;
};

TEST_F(LogReplayTest, PassesEveryCommand) {
  Write("");
  ASSERT_TRUE(Replay().ok());
  EXPECT_THAT(replayed_, IsEmpty());
  Write(Encode({"SET", "a", "1"}) + Encode({"DEL", "a"}));
  const absl::StatusOr<Replayed> replayed = Replay();
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_THAT(replayed_, ElementsAre("SET a 1", "DEL a"));
  EXPECT_EQ(replayed->commands, 2u);
  EXPECT_EQ(replayed->cut, 0u);
}

// Whatever part of the last write is missing, everything before is replayed,
// and the file is whole again afterwards.
TEST_F(LogReplayTest, CutsOffATornEndAtEveryByte) {
  const std::string first = Encode({"SET", "a", "1"});
  const std::string second = Encode({"RPUSH", "list", "x", "", "zz\r\n"});
  for (size_t size = 0; size < second.size(); ++size) {
    Write(first + second.substr(0, size));
    const absl::StatusOr<Replayed> replayed = Replay();
    ASSERT_TRUE(replayed.ok()) << size << ": " << replayed.status();
    EXPECT_THAT(replayed_, ElementsAre("SET a 1")) << size;
    EXPECT_EQ(replayed->cut, size);
    EXPECT_EQ(Contents(), first);
  }
}

TEST_F(LogReplayTest, DropsATornTransactionAtEveryByte) {
  const std::string first = Encode({"SET", "a", "1"});
  const std::string transaction = Encode({"MULTI"}) + Encode({"SELECT", "1"}) +
                                  Encode({"SET", "b", "2"}) +
                                  Encode({"DEL", "a"}) + Encode({"EXEC"});
  for (size_t size = 0; size < transaction.size(); ++size) {
    Write(first + transaction.substr(0, size));
    const absl::StatusOr<Replayed> replayed = Replay();
    ASSERT_TRUE(replayed.ok()) << size << ": " << replayed.status();
    EXPECT_THAT(replayed_, ElementsAre("SET a 1")) << size;
    EXPECT_EQ(Contents(), first);
  }
  Write(first + transaction);
  ASSERT_TRUE(Replay().ok());
  EXPECT_THAT(replayed_,
              ElementsAre("SET a 1", "SELECT 1", "SET b 2", "DEL a"));
}

TEST_F(LogReplayTest, RefusesDamageAndNamesTheFileAndTheOffset) {
  const std::string first = Encode({"SET", "a", "1"});
  const std::string last = Encode({"DEL", "a"});
  for (const std::string& damage :
       {std::string("garbage\r\n"), std::string("*x\r\n"),
        std::string("*1\r\n$3\r\nDELxx"), std::string(10, '\0'),
        Encode({"BAD"}), Encode({"EXEC"})}) {
    const std::string bytes = absl::StrCat(first, damage, last);
    Write(bytes);
    const absl::StatusOr<Replayed> replayed = Replay();
    EXPECT_TRUE(absl::IsDataLoss(replayed.status())) << damage;
    EXPECT_THAT(
        replayed.status().message(),
        HasSubstr(absl::StrCat(path_, " is damaged at offset ", first.size())));
    EXPECT_TRUE(Contents() == bytes) << "the file has changed";
  }
}

// A damaged length must not make the replay take all that follows for the end
// of a command.
TEST_F(LogReplayTest, RefusesALengthThatReachesBeyondTheEnd) {
  const std::string first = Encode({"SET", "a", "1"});
  std::string damaged = Encode({"SET", "b", "22"});
  damaged.replace(damaged.find("$2"), 2, "$200000000");
  for (const std::string& bytes :
       {absl::StrCat(first, damaged, first),
        absl::StrCat(damaged, std::string(3 << 20, 'x'), "\r\n", first)}) {
    Write(bytes);
    const absl::StatusOr<Replayed> replayed = Replay();
    EXPECT_TRUE(absl::IsDataLoss(replayed.status())) << replayed.status();
    EXPECT_THAT(replayed.status().message(), HasSubstr("never ends"));
    EXPECT_EQ(Contents(), bytes);
  }
}

TEST_F(LogReplayTest, ReadsCommandsThatAreLargerThanARead) {
  const std::string value(5 << 20, 'x');
  Write(Encode({"SET", "a", value}) + Encode({"DEL", "a"}));
  ASSERT_TRUE(Replay().ok());
  EXPECT_THAT(replayed_, ElementsAre("SET a " + value, "DEL a"));
}

TEST_F(LogReplayTest, RefusesAFileThatIsInUse) {
  Write("");
  const absl::StatusOr<std::shared_ptr<DiskLogFile>> file =
      DiskLogFile::Open(path_);
  ASSERT_TRUE(file.ok());
  const absl::Status status = Replay().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(status.message(), HasSubstr("choose another --dir"));
}

TEST_F(LogReplayTest, NamesADirectoryThatDoesNotExist) {
  EXPECT_THAT(DiskLogFile::Open("/nowhere/x.aof").status().message(),
              HasSubstr("/nowhere/x.aof"));
}

}  // namespace
}  // namespace mini_redis
