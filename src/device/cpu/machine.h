// Input: the kernel's description of this machine (or a recorded copy of it, for tests).
// Output: the cores and memory that this process may really use.
// Never: measures speed.
#pragma once

#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

struct Machine {
  std::string cpu_name;  // "AMD EPYC ..."
  int online_cores = 1;  // number listed in /proc/cpuinfo
  int usable_cores = 1;  // after affinity and the cgroup's quota
  double cpu_quota = 0;  // cores the cgroup allows; 0 without a limit
  Bytes memory_total;
  Bytes memory_available;  // memory available now without swapping, within the cgroup's limit
  Bytes cgroup_limit;      // 0 without a limit
  Bytes l2, l3;            // L2 of one core, L3 of its group; 0 if the kernel does not say
};

// Reads /proc and /sys under `root` ("" is the real root). `affinity` is the number of cores that the scheduler lets
// this process use; 0 asks the system. Values that cannot be read keep their defaults.
Machine describe_machine(const std::string& root = "", int affinity = 0);

// Returns the memory that `--memory auto` allows a job: 60 % of what is available; 1 GiB if the system does not say.
Bytes default_memory_limit(const Machine& machine);

}  // namespace millrace
