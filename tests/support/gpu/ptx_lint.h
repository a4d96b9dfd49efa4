// Input: PTX, and what is declared of its kernels.
// Output: what of it a device could compute otherwise than the CPU, and what is not as declared; a line each.
// Never: looks for speed.
#pragma once

#include <fmt/format.h>

#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "src/device/kernel_source.h"

namespace millrace {

// The text of one kernel, from its name to its last brace.
inline std::string kernel_text(std::string_view ptx, std::string_view name) {
  const std::size_t begin = ptx.find(fmt::format(".entry {}(", name));
  if (begin == std::string_view::npos) return "";
  const std::size_t end = ptx.find("\n}", begin);
  return std::string(ptx.substr(begin, end - begin));
}

inline std::size_t matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

inline std::vector<std::string> lint_ptx(const KernelSource& source, std::span<const KernelEntry> entries) {
  std::vector<std::string> out;
  std::istringstream lines{std::string(source.ptx)};
  const std::regex inexact(
      R"(^\s*(@!?%p\d+\s+)?(\w+\.(approx|full)|\w+(\.\w+)*\.ftz|(sin|cos|ex2|lg2|rsqrt|rcp|tanh)\.)\S*)");
  const std::regex unrounded(R"(^\s*(@!?%p\d+\s+)?(add|sub|mul|fma|div|sqrt|mad)\.(?!rn\.)(\w+\.)*f(16|32|64)\b)");
  const std::regex atomic(R"(^\s*(@!?%p\d+\s+)?(atom|red)\.(\w+\.)*f(16|32|64)\b)");
  const std::regex local(R"(\.local\b|__local_depot)");
  const std::regex call(R"(^\s*(@!?%p\d+\s+)?call\b)");
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, inexact)) out.push_back("inexact: " + line);
    if (std::regex_search(line, unrounded)) out.push_back("not rounded to nearest: " + line);
    if (std::regex_search(line, atomic)) out.push_back("floating atomic: " + line);
    if (std::regex_search(line, local)) out.push_back("local memory: " + line);
    if (std::regex_search(line, call)) out.push_back("a call: " + line);
  }
  const auto uses = [&](const char* word) { return std::string(source.ptx).find(word) != std::string::npos; };
  if (!source.doubles && (uses(".f64") || uses("%fd"))) out.emplace_back("64-bit floating numbers, without MR_F64");
  if (!source.singles && !source.doubles && (uses(".f32") || uses(".f64")))
    out.emplace_back("floating numbers, without MR_F32");
  // A source that declares both may convert between them only on purpose.
  for (const KernelEntry& entry : entries) {
    const std::string text = kernel_text(source.ptx, entry.name);
    const auto say = [&](const std::string& what) { out.push_back(fmt::format("{}: {}", entry.name, what)); };
    if (text.empty()) {
      say("it is not there");
      continue;
    }
    if (const std::size_t fused = matches(text, R"(\bfma\.)"); fused != entry.fused) {
      say(fmt::format("{} fused multiply-adds, {} are declared", fused, entry.fused));
    }
    std::string parameters;
    const std::regex parameter(R"(\.param \.(\w)(\d+) \S+_param_\d+)");
    const std::string head = text.substr(0, text.find('{'));
    for (auto at = std::sregex_iterator(head.begin(), head.end(), parameter); at != std::sregex_iterator(); ++at) {
      parameters += (*at)[2] == "64" ? '8' : '4';
    }
    std::string declared(entry.parameters);
    for (char& c : declared) c = c == 'p' ? '8' : c;
    if (parameters != declared) say(fmt::format("its parameters are {}, declared is {}", parameters, declared));
    if (head.find(fmt::format(".maxntid {}, 1, 1", entry.threads)) == std::string::npos)
      say("not of the declared threads");
    std::size_t shared = 0;
    const std::regex array(R"(\.shared \.align \d+ \.b8 \S+\[(\d+)\])");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), array); at != std::sregex_iterator(); ++at) {
      shared += std::stoul((*at)[1]);
    }
    if (shared != entry.shared_bytes)
      say(fmt::format("{} bytes of shared memory, {} are declared", shared, entry.shared_bytes));
  }
  const std::size_t kernels = matches(std::string(source.ptx), R"(\.visible \.entry )");
  if (kernels != entries.size()) out.push_back(fmt::format("{} kernels, {} are declared", kernels, entries.size()));
  return out;
}

}  // namespace millrace
