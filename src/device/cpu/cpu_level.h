// Input: the CPU's features and the level requested in MILLRACE_CPU.
// Output: the level that every vectorised operation uses.
// Never: changes a result; levels differ only in speed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// `baseline` runs everywhere; avx2 and avx512 are levels of x86-64, neon of aarch64.
enum class CpuLevel { baseline, avx2, avx512, neon };

const char* name_of(CpuLevel level);
std::optional<CpuLevel> parse_cpu_level(std::string_view name);

// Lists the levels that this build has and this machine can run, slowest first.
std::vector<CpuLevel> available_cpu_levels();

// Returns the level that operations use now.
CpuLevel current_cpu_level();

// Makes every operation use `level` from now on; throws Failure(unavailable) if the machine lacks it. Must not be
// called while operations run.
void use_cpu_level(CpuLevel level);

// Applies MILLRACE_CPU, if set; throws Failure(usage) for an unknown name.
void use_cpu_level_from_environment();

}  // namespace millrace
