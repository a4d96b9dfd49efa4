#include "src/device/cpu/cpu_level.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>

#include "src/base/error.h"

namespace millrace {
namespace {

// Returns Highway's targets for a level. AVX3_DL (Ice Lake, Zen 4) is a finer AVX-512 that Highway picks by itself.
std::int64_t targets_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::baseline:
      return HWY_EMU128 | HWY_SCALAR;
    case CpuLevel::avx2:
      return HWY_AVX2;
    case CpuLevel::avx512:
      return HWY_AVX3 | HWY_AVX3_DL;
    case CpuLevel::neon:
      return HWY_NEON;
  }
  return 0;
}

// Returns the machine's own targets, before a level is forced.
std::int64_t machine_targets() {
  static const std::int64_t targets = [] {
    hwy::SetSupportedTargetsForTest(0);
    return hwy::SupportedTargets() | HWY_EMU128 | HWY_SCALAR;
  }();
  return targets;
}

std::optional<CpuLevel>& forced_level() {
  static std::optional<CpuLevel> level;
  return level;
}

}  // namespace

const char* name_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::baseline:
      return "baseline";
    case CpuLevel::avx2:
      return "avx2";
    case CpuLevel::avx512:
      return "avx512";
    case CpuLevel::neon:
      return "neon";
  }
  return "baseline";
}

std::optional<CpuLevel> parse_cpu_level(std::string_view name) {
  for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512, CpuLevel::neon}) {
    if (name == name_of(level)) return level;
  }
  return std::nullopt;
}

std::vector<CpuLevel> available_cpu_levels() {
  std::vector<CpuLevel> levels;
#if HWY_ARCH_X86
  // aarch64 always has NEON, so no slower level is compiled there.
  levels.push_back(CpuLevel::baseline);
#endif
  for (const CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512, CpuLevel::neon}) {
    if ((machine_targets() & targets_of(level)) != 0) levels.push_back(level);
  }
  return levels;
}

CpuLevel current_cpu_level() { return forced_level() ? *forced_level() : available_cpu_levels().back(); }

void use_cpu_level(CpuLevel level) {
  const auto available = available_cpu_levels();
  // Highway's own check is no use here: it accepts its emulated vectors everywhere, but aarch64 builds leave them out.
  if (std::find(available.begin(), available.end(), level) == available.end()) {
    std::string known;
    for (const CpuLevel l : available) known += std::string(known.empty() ? "" : ", ") + name_of(l);
    throw Failure(ErrorCode::unavailable, fmt::format("this machine has no {}", name_of(level)), "MILLRACE_CPU",
                  fmt::format("it has {}", known));
  }
  // The baseline is kept as a fallback for files that were built without the level.
  hwy::SetSupportedTargetsForTest((machine_targets() & targets_of(level)) | HWY_EMU128 | HWY_SCALAR);
  hwy::GetChosenTarget().DeInit();
  forced_level() = level;
}

void use_cpu_level_from_environment() {
  const char* wish = std::getenv("MILLRACE_CPU");
  if (wish == nullptr || *wish == '\0') return;
  const auto level = parse_cpu_level(wish);
  if (!level) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a CPU level", wish), "MILLRACE_CPU",
                  "use baseline, avx2, avx512 or neon");
  }
  use_cpu_level(*level);
}

}  // namespace millrace
