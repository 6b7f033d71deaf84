// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/cpu_quota.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

using ::testing::Optional;

// Provides a tree of files like the one that the system shows.
class CpuQuotaTest : public ::testing::Test {
 protected:
  CpuQuotaTest()
      : root_(std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~CpuQuotaTest() override { std::filesystem::remove_all(root_); }

  void Write(std::string_view path, std::string_view text) {
    const std::filesystem::path file = root_ / std::string(path.substr(1));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  // Puts the process into `group` of the single v2 hierarchy.
  void UseV2(const std::string& group, const std::string& mounted = "/") {
    Write("/proc/self/cgroup", "0::" + group + "\n");
    Write("/proc/self/mountinfo",
          "23 28 0:21 / /proc rw,nosuid - proc proc rw\n"
          "24 28 0:22 " +
              mounted +
              " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  // Puts the process into `group` of a v1 hierarchy that is mounted at `point`.
  void UseV1(const std::string& group, const std::string& mounted,
             const std::string& point) {
    Write("/proc/self/cgroup", "5:cpuset:/elsewhere\n4:cpu,cpuacct:" + group +
                                   "\n1:name=systemd:/user\n");
    Write("/proc/self/mountinfo",
          "31 30 0:25 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
          "32 30 0:26 " +
              mounted + " " + point +
              " rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n");
  }
  void WriteV1(const std::string& directory, std::string_view quota,
               std::string_view period) {
    Write(directory + "/cpu.cfs_quota_us", quota);
    Write(directory + "/cpu.cfs_period_us", period);
  }
  std::optional<size_t> Quota() const { return CpuQuota(root_.string()); }

 private:
  const std::filesystem::path root_;
};

TEST_F(CpuQuotaTest, ReadsTheQuotaOfV2) {
  UseV2("/");
  Write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_THAT(Quota(), Optional(4u));
}

TEST_F(CpuQuotaTest, IsRoundedUp) {
  UseV2("/");
  Write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_THAT(Quota(), Optional(3u));
  Write("/sys/fs/cgroup/cpu.max", "200001 100000\n");
  EXPECT_THAT(Quota(), Optional(3u));
  Write("/sys/fs/cgroup/cpu.max", "1000 100000\n");
  EXPECT_THAT(Quota(), Optional(1u));
}

TEST_F(CpuQuotaTest, TakesTheLeastQuotaOfAllEnclosingGroups) {
  UseV2("/a/b/c");
  Write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/a/b/cpu.max", "600000 100000\n");
  Write("/sys/fs/cgroup/a/cpu.max", "150000 50000\n");
  EXPECT_THAT(Quota(), Optional(3u));
  Write("/sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n");
  EXPECT_THAT(Quota(), Optional(2u));
  // This quota belongs to another group.
  Write("/sys/fs/cgroup/a/x/cpu.max", "100000 100000\n");
  EXPECT_THAT(Quota(), Optional(2u));
}

TEST_F(CpuQuotaTest, ReadsTheQuotaOfV1) {
  UseV1("/user", "/", "/sys/fs/cgroup/cpu,cpuacct");
  WriteV1("/sys/fs/cgroup/cpu,cpuacct/user", "-1\n", "100000\n");
  EXPECT_EQ(Quota(), std::nullopt);
  WriteV1("/sys/fs/cgroup/cpu,cpuacct", "350000\n", "100000\n");
  EXPECT_THAT(Quota(), Optional(4u));
  WriteV1("/sys/fs/cgroup/cpu,cpuacct/user", "50000\n", "100000\n");
  EXPECT_THAT(Quota(), Optional(1u));
}

// Docker mounts the hierarchy in this way if there is no namespace of groups.
TEST_F(CpuQuotaTest, FindsTheGroupOfAContainerThatMountsOnlyItsOwn) {
  UseV1("/docker/ab12", "/docker/ab12", "/sys/fs/cgroup/cpu");
  WriteV1("/sys/fs/cgroup/cpu", "200000", "100000");
  EXPECT_THAT(Quota(), Optional(2u));
  UseV1("/docker/ab12/in/side", "/docker/ab12", "/sys/fs/cgroup/cpu");
  WriteV1("/sys/fs/cgroup/cpu/in", "100000", "100000");
  EXPECT_THAT(Quota(), Optional(1u));
}

TEST_F(CpuQuotaTest, ReadsTheMountPointForAGroupOutsideIt) {
  UseV2("/../outside");
  Write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_THAT(Quota(), Optional(2u));
  UseV2("/docker/ab12x", "/docker/ab12");
  EXPECT_THAT(Quota(), Optional(2u));
}

TEST_F(CpuQuotaTest, IgnoresOtherMountedGroups) {
  UseV2("/user");
  Write("/proc/self/mountinfo",
        "1 0 0:1 /other /srv/other rw - cgroup2 none rw\n"
        "2 0 0:1 / /sys/fs/cgroup rw - cgroup2 none rw\n"
        "3 0 0:1 /more /srv/more rw - cgroup2 none rw\n");
  Write("/srv/other/cpu.max", "50000 100000\n");
  Write("/srv/more/cpu.max", "50000 100000\n");
  EXPECT_EQ(Quota(), std::nullopt);
  Write("/sys/fs/cgroup/user/cpu.max", "300000 100000\n");
  EXPECT_THAT(Quota(), Optional(3u));
}

TEST_F(CpuQuotaTest, ReadsAGroupWhoseNameBeginsWithDots) {
  UseV2("/..data");
  Write("/sys/fs/cgroup/..data/cpu.max", "200000 100000\n");
  EXPECT_THAT(Quota(), Optional(2u));
}

TEST_F(CpuQuotaTest, ReadsAMountWithoutASource) {
  UseV2("/a");
  Write("/proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2  rw\n");
  Write("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_THAT(Quota(), Optional(2u));
}

TEST_F(CpuQuotaTest, TakesTheLeastQuotaOfBothVersions) {
  UseV1("/a", "/", "/sys/fs/cgroup/cpu");
  WriteV1("/sys/fs/cgroup/cpu/a", "500000", "100000");
  Write("/proc/self/cgroup", "2:cpu:/a\n0::/b\n");
  Write("/proc/self/mountinfo",
        "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "2 0 0:2 / /mnt/with\\040blank rw - cgroup2 none rw\n");
  EXPECT_THAT(Quota(), Optional(5u));
  Write("/mnt/with blank/b/cpu.max", "300000 100000\n");
  EXPECT_THAT(Quota(), Optional(3u));
}

TEST_F(CpuQuotaTest, ReturnsNoQuotaWithoutFiles) {
  EXPECT_EQ(Quota(), std::nullopt);
  UseV2("/a/b");
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CpuQuotaTest, ReturnsNoQuotaWithoutALimit) {
  UseV2("/a");
  Write("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/cpu.max", "max\n");
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CpuQuotaTest, IgnoresUnreadableFiles) {
  for (const char* const garbage :
       {"", "\n", "100000", "x y\n", "100000 0\n", "-5 100000\n", "0 100000\n",
        "100000 100000 100000\n", "1e5 100000\n", "100000x 100000\n",
        "99999999999999999999999 1\n"}) {
    UseV2("/a");
    Write("/sys/fs/cgroup/a/cpu.max", garbage);
    Write("/sys/fs/cgroup/cpu.max", "700000 100000\n");
    EXPECT_THAT(Quota(), Optional(7u)) << garbage;
  }
  Write("/proc/self/mountinfo", "garbage\n - \n1 2 3 - cgroup2\n");
  EXPECT_EQ(Quota(), std::nullopt);
  UseV2("/a");
  Write("/proc/self/cgroup", "garbage\n:\n0:\n");
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CpuQuotaTest, ReadsTheQuotaOfThisProcess) {
  EXPECT_GE(CpuQuota().value_or(1), 1u);
}

}  // namespace
}  // namespace rouse
