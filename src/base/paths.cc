#include "src/base/paths.h"

#include <cstdlib>
#include <memory>

namespace millrace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string join_path(const std::string& folder, std::string_view name) {
  return (folder == "/" ? "/" : folder + "/") + std::string(name);
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

std::string_view shortest_distinct_suffix(std::string_view path, std::string_view other) {
  std::size_t begin = path.find_last_of('/') + 1;  // 0 if there is no slash
  const auto ends_alike = [&] {
    const std::string_view end = path.substr(begin);
    if (!other.ends_with(end)) return false;
    const std::size_t before = other.size() - end.size();
    return before == 0 || other[before - 1] == '/';
  };
  while (begin > 0 && ends_alike()) {
    const std::size_t slash = path.substr(0, begin - 1).find_last_of('/');
    begin = slash == std::string_view::npos ? 0 : slash + 1;
  }
  return path.substr(begin);
}

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

}  // namespace millrace
