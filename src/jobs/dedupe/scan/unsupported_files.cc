#include "src/jobs/dedupe/scan/unsupported_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "src/base/sizes.h"
#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

constexpr std::array<std::string_view, 8> kSystemFiles = {"thumbs.db",   "ehthumbs.db", "desktop.ini",      ".ds_store",
                                                          ".picasa.ini", "picasa.ini",  "zbthumbnail.info", ".nomedia"};

std::string kind_of(const std::string& path) {
  const std::string kind = extension(path);
  return kind.empty() ? "" : "." + kind;
}

}  // namespace

void UnsupportedFiles::add(const std::string& path) {
  const std::string name = lower_ascii(file_name(path));
  if (std::find(kSystemFiles.begin(), kSystemFiles.end(), name) != kSystemFiles.end()) return;
  ++kinds_[kind_of(path)];
  ++files_;
}

void UnsupportedFiles::remove_file(const std::string& path) {
  const auto at = kinds_.find(kind_of(path));
  if (at == kinds_.end()) return;
  if (--at->second == 0) kinds_.erase(at);
  --files_;
}

std::vector<std::pair<std::string, std::uint64_t>> UnsupportedFiles::kinds() const {
  std::vector<std::pair<std::string, std::uint64_t>> out(kinds_.begin(), kinds_.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::string UnsupportedFiles::description() const {
  if (files_ == 0) return "";
  constexpr std::size_t kShown = 6;
  const auto all = kinds();
  std::vector<std::string> parts;
  std::uint64_t left = files_;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    const auto& [kind, files] = all[i];
    parts.push_back(
        fmt::format("{} {}", group_digits(files), kind.empty() ? "without an extension" : escape_unprintable(kind)));
    left -= files;
  }
  if (left > 0) parts.push_back(fmt::format("{} others", group_digits(left)));
  return fmt::format("{} {}: {}", group_digits(files_),
                     files_ == 1 ? "file of a type that is not supported" : "files of types that are not supported",
                     fmt::join(parts, ", "));
}

}  // namespace millrace::dedupe
