#include "src/jobs/names_below.h"

#include <filesystem>

namespace millrace {
namespace {

std::filesystem::path normal_form(const std::string& path) { return std::filesystem::path(path).lexically_normal(); }

}  // namespace

NamesBelow::NamesBelow(const std::vector<std::string>& named) {
  for (const std::string& each : named) {
    std::string normal = normal_form(each).string();
    while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
    roots_.insert(std::move(normal));
  }
}

std::string NamesBelow::of(const std::string& path) const {
  const std::filesystem::path normal = normal_form(path);
  for (std::filesystem::path folder = normal.parent_path();; folder = folder.parent_path()) {
    if (roots_.contains(folder.empty() ? "." : folder.string())) {
      std::string below = normal.lexically_relative(folder.empty() ? "." : folder).string();
      if (!below.starts_with("..")) return below;
    }
    if (folder.empty() || folder == folder.parent_path()) return normal.filename().string();
  }
}

}  // namespace millrace
