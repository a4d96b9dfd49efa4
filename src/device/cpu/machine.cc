#include "src/device/cpu/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "src/base/text.h"

namespace millrace {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const std::string line = first_line(path);
  if (line.empty() || line[0] < '0' || line[0] > '9') return std::nullopt;
  return std::strtoull(line.c_str(), nullptr, 10);
}

Bytes cache_size(const std::string& root, int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    if (first_line(folder + "/level") != std::to_string(level)) continue;
    if (first_line(folder + "/type") == "Instruction") continue;
    const auto size = parse_bytes(first_line(folder + "/size"));
    if (size) return *size;
  }
  return {};
}

// The tightest limits on the path from this process's cgroup to the root; the limits of all levels apply.
struct CgroupLimits {
  std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t memory_free = std::numeric_limits<std::uint64_t>::max();
  double cpus = 0;
};

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool v2 = parts[0] == "0" && parts[1].empty();
    // Controllers that are mounted together appear in either order: "cpu,cpuacct", "cpuacct,cpu".
    const auto controllers = split(parts[1], ',');
    const auto controls = [&](const char* name) {
      return std::find(controllers.begin(), controllers.end(), name) != controllers.end();
    };
    const bool v1_memory = controls("memory");
    const bool v1_cpu = controls("cpu");
    if (!v2 && !v1_memory && !v1_cpu) continue;
    const std::string base = root + "/sys/fs/cgroup" + (v2 ? "" : v1_memory ? "/memory" : "/" + parts[1]);
    for (std::string at = parts[2];; at = at.substr(0, at.find_last_of('/'))) {
      const std::string folder = base + (at == "/" ? "" : at);
      if (v2 || v1_memory) {
        const auto limit = number_in(folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
        const auto used = number_in(folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
        // v1 writes "no limit" as a number near 2^63.
        if (limit && *limit < (std::uint64_t{1} << 60)) {
          limits.memory_limit = std::min(limits.memory_limit, *limit);
          // Page cache counts as used, but the kernel reclaims it before it kills a process.
          std::uint64_t cache = 0;
          std::ifstream stat(folder + "/memory.stat");
          std::string key;
          for (std::uint64_t value = 0; stat >> key >> value;) {
            if (key == "inactive_file" || key == "active_file") cache += value;
          }
          const std::uint64_t held = std::max(used.value_or(0), cache) - cache;
          limits.memory_free = std::min(limits.memory_free, *limit - std::min(*limit, held));
        }
      }
      if (v2 || v1_cpu) {
        double quota = 0, period = 0;
        if (v2) {
          std::istringstream max(first_line(folder + "/cpu.max"));
          max >> quota >> period;  // "max 100000" leaves both at zero
        } else {
          quota = static_cast<double>(number_in(folder + "/cpu.cfs_quota_us").value_or(0));
          period = static_cast<double>(number_in(folder + "/cpu.cfs_period_us").value_or(0));
        }
        if (quota > 0 && period > 0) {
          const double cpus = quota / period;
          limits.cpus = limits.cpus == 0 ? cpus : std::min(limits.cpus, cpus);
        }
      }
      if (at.empty() || at == "/") break;
    }
  }
  return limits;
}

}  // namespace

Machine describe_machine(const std::string& root, int affinity) {
  Machine machine;
  int cores = 0;
  std::string implementer, part;
  std::ifstream cpuinfo(root + "/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto value = [&] { return std::string(trim(line.substr(std::min(line.size(), line.find(':') + 1)))); };
    if (line.starts_with("processor")) ++cores;
    if (machine.cpu_name.empty() && (line.starts_with("model name") || line.starts_with("Model")))
      machine.cpu_name = value();
    if (implementer.empty() && line.starts_with("CPU implementer")) implementer = value();
    if (part.empty() && line.starts_with("CPU part")) part = value();
  }
  // Most aarch64 kernels give numbers instead of a name.
  if (machine.cpu_name.empty() && !implementer.empty()) {
    machine.cpu_name = "aarch64, implementer " + implementer + (part.empty() ? "" : ", part " + part);
  }
  if (machine.cpu_name.empty()) machine.cpu_name = "unnamed processor";
  machine.online_cores = std::max(cores, 1);

  std::ifstream meminfo(root + "/proc/meminfo");
  std::uint64_t unused = 0;
  bool tells_available = false;
  for (std::string line; std::getline(meminfo, line);) {
    // Lines that are not "Name: number kB" are counts, or come from a newer kernel.
    std::istringstream fields(line);
    std::string key, unit;
    std::uint64_t kib = 0;
    if (!(fields >> key >> kib >> unit) || unit != "kB" || kib > std::numeric_limits<std::uint64_t>::max() / 1024)
      continue;
    if (key == "MemTotal:") machine.memory_total = {kib * 1024};
    if (key == "MemAvailable:") {
      machine.memory_available = {kib * 1024};
      tells_available = true;
    }
    if (key == "MemFree:" || key == "Buffers:" || key == "Cached:") unused += kib * 1024;
  }
  // Kernels before 3.14, and systems that emulate one, do not report MemAvailable.
  if (!tells_available) machine.memory_available = std::min(machine.memory_total, Bytes{unused});

  if (affinity <= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    affinity = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : machine.online_cores;
  }
  const CgroupLimits limits = cgroup_limits(root);
  machine.cpu_quota = limits.cpus;
  machine.usable_cores = std::max(1, affinity);
  if (limits.cpus > 0) {
    machine.usable_cores = std::min(machine.usable_cores, std::max(1, static_cast<int>(std::ceil(limits.cpus))));
  }
  if (limits.memory_limit != std::numeric_limits<std::uint64_t>::max()) {
    machine.cgroup_limit = {limits.memory_limit};
    // If the machine's own memory cannot be read, only the cgroup's limit applies.
    machine.memory_available = machine.memory_total.count == 0
                                   ? Bytes{limits.memory_free}
                                   : std::min(machine.memory_available, Bytes{limits.memory_free});
  }
  machine.l2 = cache_size(root, 2);
  machine.l3 = cache_size(root, 3);
  return machine;
}

Bytes default_memory_limit(const Machine& machine) {
  // Without /proc nothing can be read; jobs still run, in an amount of memory that every machine has.
  if (machine.memory_total.count == 0 && machine.cgroup_limit.count == 0) return 1_GiB;
  return {machine.memory_available.count / 10 * 6};
}

}  // namespace millrace
