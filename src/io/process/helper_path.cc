#include "src/io/process/helper_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "src/base/paths.h"
#include "src/base/text.h"

namespace millrace {
namespace {

std::string real_path(const char* path) {
  char out[PATH_MAX];
  return ::realpath(path, out) == nullptr ? "" : out;
}

// Returns the file that contains this code: a shared library, or the program.
std::string own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  const auto* here = reinterpret_cast<const void*>(&find_helper);
  if (::dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr &&
      map->l_name != nullptr && *map->l_name != '\0') {
    // A library that was loaded by a relative name was found in the folder that was current at that time.
    return *map->l_name == '/' ? real_path(map->l_name) : "";
  }
  std::string program = real_path("/proc/self/exe");
  if (!program.empty()) return program;
  // Without /proc, the name that was executed is used. A name without a folder would be searched in the current folder.
  const auto* executed = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return executed == nullptr ? "" : real_path(executed);
}

bool is_python_package(const std::string& folder) {
  return ::access(join_path(folder, "__init__.py").c_str(), F_OK) == 0;
}

// A library need not be executable: Debian's CMake installs it without that permission.
bool is_there(const std::string& path) { return ::access(path.c_str(), path.ends_with(".so") ? R_OK : X_OK) == 0; }

// Returns the helper's path as installed with a program or a library in `folder`; empty where there is none.
std::string installed_with(const std::string& folder, const std::string& name) {
  std::string beside = join_path(folder, name);
  if (is_there(beside)) return beside;
  // Only an installation's bin or lib has a libexec beside it. For a program in /tmp/work, such a folder could be
  // anybody's.
  for (const std::string_view part : {"/" MILLRACE_BINDIR, "/" MILLRACE_LIBDIR}) {
    if (!folder.ends_with(part)) continue;
    std::string installed = folder.substr(0, folder.size() - part.size());
    installed.append("/" MILLRACE_LIBEXECDIR "/millrace/").append(name);
    if (is_there(installed)) return installed;
  }
  return "";
}

// Searches the first `millrace` on PATH that has the helper. The command of a Python package, which an environment puts
// first on PATH, has none.
std::string installed_on_path(const std::string& name) {
  const char* set = std::getenv("PATH");
  if (set == nullptr) return "";
  for (const std::string& entry : split(set, ':')) {
    if (!entry.starts_with('/')) continue;
    const std::string program = real_path(join_path(entry, "millrace").c_str());
    if (program.empty() || ::access(program.c_str(), X_OK) != 0) continue;
    if (std::string found = installed_with(folder_of(program), name); !found.empty()) return found;
  }
  return "";
}

}  // namespace

std::string find_helper_near(const std::string& folder, const std::string& name) {
  if (std::string found = installed_with(folder, name); !found.empty()) return found;
  if (is_python_package(folder)) {
    if (std::string found = installed_on_path(name); !found.empty()) return found;
  }
  return join_path(folder, name);
}

std::string find_helper(const std::string& name) {
  const char* set = std::getenv("MILLRACE_HELPERS");
  if (set != nullptr && *set != '\0') return join_path(set, name);
  const std::string own = own_file();
  return own.empty() ? "/nowhere/" + name : find_helper_near(folder_of(own), name);
}

bool is_in_python_package() {
  const std::string own = own_file();
  return !own.empty() && is_python_package(folder_of(own));
}

std::string helper_remedy(const std::string& name) {
  if (is_in_python_package()) {
    return "the Python package does not include " + name +
           ": build Millrace on this system (./dev build), install it (cmake --install) and put millrace on PATH, "
           "or set MILLRACE_HELPERS to the folder of " +
           name;
  }
  return "build the target " + name + " and put it beside the millrace program, or set MILLRACE_HELPERS to its folder";
}

}  // namespace millrace
