// Input: what the kernel says about this machine (or a recorded copy of it, for tests).
// Output: cores and memory that this process may really use.
// Never: measures speed.
#pragma once

#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

struct Machine {
  std::string cpu_name;  // "AMD EPYC ..."
  int online_cores = 1;  // as /proc/cpuinfo lists them
  int usable_cores = 1;  // after affinity and the cgroup's quota
  double cpu_quota = 0;  // cores the cgroup allows; 0 without a limit
  Bytes memory_total;
  Bytes memory_available;  // what can be had now without swapping, the cgroup's limit respected
  Bytes cgroup_limit;      // 0 without a limit
  Bytes l2, l3;            // of one core, of its group; 0 where the kernel does not say
};

// Reads /proc and /sys under `root` ("" is the real ones). `affinity` is how many cores the scheduler lets this
// process use; 0 asks the system. Whatever cannot be read keeps its default.
Machine describe_machine(const std::string& root = "", int affinity = 0);

// What `--memory auto` allows a job: 60 % of what is available; 1 GiB where the system does not say.
Bytes automatic_memory(const Machine& machine);

}  // namespace millrace
