#include "src/io/process/helper_place.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "src/base/paths.h"

namespace millrace {
namespace {

std::string real_path(const char* path) {
  char out[PATH_MAX];
  return ::realpath(path, out) == nullptr ? "" : out;
}

// The file of this code: a shared library, or the program.
std::string own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  const auto* here = reinterpret_cast<const void*>(&find_helper);
  if (::dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr &&
      map->l_name != nullptr && *map->l_name != '\0') {
    // One that was loaded by a relative name is wherever the program was at that time.
    return *map->l_name == '/' ? real_path(map->l_name) : "";
  }
  std::string program = real_path("/proc/self/exe");
  if (!program.empty()) return program;
  // Without /proc: what was executed, as it was named. A name without a folder would be looked for in the current one.
  const auto* executed = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return executed == nullptr ? "" : real_path(executed);
}

}  // namespace

std::string find_helper(const std::string& name) {
  const char* set = std::getenv("MILLRACE_HELPERS");
  if (set != nullptr && *set != '\0') return path_in(set, name);
  const std::string own = own_file();
  if (own.empty()) return "/nowhere/" + name;
  const std::string folder = folder_of(own);
  std::string beside = path_in(folder, name);
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  // No other folder has a libexec beside it: that of a program in /tmp/work would be anybody's.
  for (const std::string_view part : {"/" MILLRACE_BINDIR, "/" MILLRACE_LIBDIR}) {
    if (!folder.ends_with(part)) continue;
    std::string installed = folder.substr(0, folder.size() - part.size());
    installed.append("/" MILLRACE_LIBEXECDIR "/millrace/").append(name);
    if (::access(installed.c_str(), X_OK) == 0) return installed;
  }
  return beside;
}

}  // namespace millrace
