// Replays descriptions of other machines: the few files of /proc and /sys that are read, written to a folder.
#include "src/device/cpu/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace millrace {
namespace {

namespace fs = std::filesystem;

// A folder with the files that describe one machine.
class Recorded {
 public:
  Recorded() {
    std::string name = (fs::temp_directory_path() / "millrace-machine-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    root_ = name;
  }
  ~Recorded() { fs::remove_all(root_); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  Recorded& file(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
    return *this;
  }
  Machine describe(int affinity) const { return describe_machine(root_, affinity); }

 private:
  std::string root_;
};

std::string x86_cpuinfo(int cores, const std::string& name) {
  std::string text;
  for (int i = 0; i < cores; ++i) {
    text += "processor\t: " + std::to_string(i) + "\nvendor_id\t: GenuineIntel\nmodel\t\t: 140\nmodel name\t: " + name +
            "\ncache size\t: 12288 KB\n\n";
  }
  return text;
}

constexpr const char* kMeminfo =
    "MemTotal:       16384000 kB\nMemFree:         1000000 kB\nMemAvailable:    8192000 "
    "kB\nBuffers:          500000 kB\n"
    "Cached:          6000000 kB\nHugePages_Total:       0\nHugePages_Free:        "
    "0\nHugepagesize:       2048 kB\n";
constexpr std::uint64_t kTotal = 16384000ULL * 1024, kAvailable = 8192000ULL * 1024;

TEST(Machine, LaptopWithEightCores) {
  Recorded laptop;
  laptop.file("/proc/cpuinfo", x86_cpuinfo(8, "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz"))
      .file("/proc/meminfo", kMeminfo)
      .file("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n")
      .file("/sys/fs/cgroup/user.slice/memory.max", "max\n")
      .file("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  const std::string cache = "/sys/devices/system/cpu/cpu0/cache/";
  laptop.file(cache + "index0/level", "1\n").file(cache + "index0/type", "Data\n").file(cache + "index0/size", "48K\n");
  laptop.file(cache + "index1/level", "1\n")
      .file(cache + "index1/type", "Instruction\n")
      .file(cache + "index1/size", "32K\n");
  laptop.file(cache + "index2/level", "2\n")
      .file(cache + "index2/type", "Unified\n")
      .file(cache + "index2/size", "1280K\n");
  laptop.file(cache + "index3/level", "3\n")
      .file(cache + "index3/type", "Unified\n")
      .file(cache + "index3/size", "12288K\n");
  const Machine m = laptop.describe(8);
  EXPECT_EQ(m.cpu_name, "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz");
  EXPECT_EQ(m.online_cores, 8);
  EXPECT_EQ(m.usable_cores, 8);
  EXPECT_EQ(m.cpu_quota, 0);
  EXPECT_EQ(m.memory_total.count, kTotal);
  EXPECT_EQ(m.memory_available.count, kAvailable);
  EXPECT_EQ(m.cgroup_limit.count, 0U);
  EXPECT_EQ(m.l2, 1280_KiB);
  EXPECT_EQ(m.l3, 12_MiB);
  EXPECT_EQ(default_memory_limit(m).count, kAvailable / 10 * 6);
}

TEST(Machine, AffinityLeavesFewerCores) {
  Recorded laptop;
  laptop.file("/proc/cpuinfo", x86_cpuinfo(8, "x")).file("/proc/meminfo", kMeminfo);
  const Machine m = laptop.describe(3);
  EXPECT_EQ(m.online_cores, 8);
  EXPECT_EQ(m.usable_cores, 3);
}

TEST(Machine, NestedCgroupsOfVersion2TheParentBinds) {
  Recorded container;
  container.file("/proc/cpuinfo", x86_cpuinfo(64, "AMD EPYC 7763 64-Core Processor"))
      .file("/proc/meminfo", kMeminfo)
      .file("/proc/self/cgroup", "0::/kubepods/pod1/app\n")
      .file("/sys/fs/cgroup/kubepods/pod1/app/memory.max", "8589934592\n")
      .file("/sys/fs/cgroup/kubepods/pod1/app/memory.current", "104857600\n")
      .file("/sys/fs/cgroup/kubepods/pod1/app/cpu.max", "800000 100000\n")
      .file("/sys/fs/cgroup/kubepods/pod1/memory.max", "2147483648\n")
      .file("/sys/fs/cgroup/kubepods/pod1/memory.current", "1073741824\n")
      .file("/sys/fs/cgroup/kubepods/pod1/memory.stat",
            "anon 500000000\nfile 536870912\ninactive_file 268435456\nactive_file 268435456\n")
      .file("/sys/fs/cgroup/kubepods/pod1/cpu.max", "250000 100000\n")
      .file("/sys/fs/cgroup/kubepods/memory.max", "max\n")
      .file("/sys/fs/cgroup/kubepods/cpu.max", "max 100000\n");
  const Machine m = container.describe(64);
  EXPECT_EQ(m.cgroup_limit, 2_GiB);
  // 1 GiB is in use, half of which is page cache that the kernel gives back.
  EXPECT_EQ(m.memory_available, 2_GiB - 512_MiB);
  EXPECT_DOUBLE_EQ(m.cpu_quota, 2.5);
  EXPECT_EQ(m.usable_cores, 3);
  EXPECT_EQ(m.online_cores, 64);
}

TEST(Machine, ContainerThatSeesItsOwnCgroupAsRoot) {
  Recorded container;
  container.file("/proc/cpuinfo", x86_cpuinfo(4, "x"))
      .file("/proc/meminfo", kMeminfo)
      .file("/proc/self/cgroup", "0::/\n")
      .file("/sys/fs/cgroup/memory.max", "1073741824\n")
      .file("/sys/fs/cgroup/memory.current", "2147483648\n")  // temporarily over its limit
      .file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  const Machine m = container.describe(4);
  EXPECT_EQ(m.cgroup_limit, 1_GiB);
  EXPECT_EQ(m.memory_available.count, 0U);
  EXPECT_EQ(default_memory_limit(m).count, 0U);
  EXPECT_DOUBLE_EQ(m.cpu_quota, 0.5);
  EXPECT_EQ(m.usable_cores, 1);
}

TEST(Machine, CgroupVersion1) {
  for (const std::string cpu : {"cpu,cpuacct", "cpuacct,cpu", "cpu"}) {
    SCOPED_TRACE(cpu);
    Recorded container;
    container.file("/proc/cpuinfo", x86_cpuinfo(16, "x"))
        .file("/proc/meminfo", kMeminfo)
        .file("/proc/self/cgroup", "12:cpuset:/docker/abc\n9:memory:/docker/abc\n4:" + cpu +
                                       ":/docker/abc\n1:name=systemd:/docker/abc\n0::/system.slice/docker.service\n")
        .file("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4294967296\n")
        .file("/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "1073741824\n")
        .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        .file("/sys/fs/cgroup/" + cpu + "/docker/abc/cpu.cfs_quota_us", "400000\n")
        .file("/sys/fs/cgroup/" + cpu + "/docker/abc/cpu.cfs_period_us", "100000\n")
        .file("/sys/fs/cgroup/" + cpu + "/cpu.cfs_quota_us", "-1\n")
        .file("/sys/fs/cgroup/" + cpu + "/cpu.cfs_period_us", "100000\n");
    const Machine m = container.describe(16);
    EXPECT_EQ(m.cgroup_limit, 4_GiB);
    EXPECT_EQ(m.memory_available, 3_GiB);
    EXPECT_DOUBLE_EQ(m.cpu_quota, 4);
    EXPECT_EQ(m.usable_cores, 4);
  }
}

TEST(Machine, Version1ContainerWhosePathIsOnlyKnownOutside) {
  // The path is valid on the host; inside the container, its own group is mounted as the root.
  Recorded container;
  container.file("/proc/meminfo", kMeminfo)
      .file("/proc/self/cgroup", "9:memory:/docker/not/here\n")
      .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n")
      .file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
  EXPECT_EQ(container.describe(2).cgroup_limit, 1_GiB);
}

TEST(Machine, Aarch64) {
  Recorded server;
  std::string cpuinfo;
  for (int i = 0; i < 4; ++i) {
    cpuinfo += "processor\t: " + std::to_string(i) +
               "\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd aes\nCPU implementer\t: 0x41\nCPU "
               "architecture: 8\nCPU variant\t: "
               "0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n";
  }
  server.file("/proc/cpuinfo", cpuinfo).file("/proc/meminfo", kMeminfo);
  const Machine m = server.describe(4);
  EXPECT_EQ(m.online_cores, 4);
  EXPECT_EQ(m.cpu_name, "aarch64, implementer 0x41, part 0xd0c");

  Recorded board;
  board.file("/proc/cpuinfo", cpuinfo + "Hardware\t: BCM2835\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n");
  EXPECT_EQ(board.describe(4).cpu_name, "Raspberry Pi 4 Model B Rev 1.4");
}

TEST(Machine, MissingFilesKeepDefaults) {
  const Recorded nothing;
  const Machine m = nothing.describe(5);
  EXPECT_EQ(m.cpu_name, "unnamed processor");
  EXPECT_EQ(m.online_cores, 1);
  EXPECT_EQ(m.usable_cores, 5);
  EXPECT_EQ(m.memory_total.count, 0U);
  EXPECT_EQ(m.memory_available.count, 0U);
  EXPECT_EQ(m.l2.count, 0U);
  EXPECT_EQ(default_memory_limit(m), 1_GiB);
}

TEST(Machine, OnlyTheCgroupTells) {
  Recorded container;
  container.file("/proc/self/cgroup", "0::/\n")
      .file("/sys/fs/cgroup/memory.max", "1073741824\n")
      .file("/sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(container.describe(1).memory_available, 1_GiB);
}

TEST(Machine, OddMeminfo) {
  Recorded odd;
  odd.file("/proc/meminfo",
           "MemTotal:\nMemTotal:       lots kB\nHugePages_Total:       0\nMemTotal:       2048 "
           "kB\nNewThing: 12 34 56\n"
           "MemAvailable:   1024 kB\nDirectMap1G:    99999999999999999999999 kB\nVmallocTotal:   "
           "18446744073709551615 kB");
  const Machine m = odd.describe(1);
  EXPECT_EQ(m.memory_total, 2_MiB);
  EXPECT_EQ(m.memory_available, 1_MiB);

  Recorded old;
  old.file("/proc/meminfo", "MemTotal: 10240 kB\nMemFree: 1024 kB\nBuffers: 1024 kB\nCached: 2048 kB\n");
  EXPECT_EQ(old.describe(1).memory_available, 4_MiB);
}

TEST(Machine, HereAndNow) {
  const Machine m = describe_machine();
  EXPECT_GE(m.usable_cores, 1);
  EXPECT_FALSE(m.cpu_name.empty());
  if (m.memory_total.count > 0) {
    EXPECT_LE(m.memory_available, m.memory_total);
  }
}

}  // namespace
}  // namespace millrace
