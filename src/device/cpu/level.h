// Input: the CPU's features and the wish in MILLRACE_CPU.
// Output: the level that every vectorised operation runs at.
// Never: changes a result; levels differ in speed alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// `baseline` runs everywhere; avx2 and avx512 are x86-64's, neon is aarch64's.
enum class CpuLevel { baseline, avx2, avx512, neon };

const char* name_of(CpuLevel level);
std::optional<CpuLevel> cpu_level_named(std::string_view name);

// The levels this build has and this machine can run, slowest first.
std::vector<CpuLevel> available_cpu_levels();

// The level that operations use now.
CpuLevel current_cpu_level();

// Makes every operation use `level` from now on; Failure(unavailable) when the machine lacks it.
// Not to be called while operations run.
void use_cpu_level(CpuLevel level);

// Applies MILLRACE_CPU, if set: Failure(usage) for an unknown name.
void use_cpu_level_from_environment();

}  // namespace millrace
