#include "src/cli/lock_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "src/base/text.h"
#include "src/io/file/own.h"
#include "src/io/process/helper/landlock.h"
#include "src/io/process/helper/walls.h"
#include "src/io/process/helper_place.h"

namespace millrace::cli {
namespace {

using Use = Landlock::Use;

// What programs and libraries are started from, and what they look at as they start. /etc is named file by file: root
// can read secrets there.
constexpr std::array kSystem = {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store"};
constexpr std::array kSystemFiles = {
    "/proc",          "/sys",          "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/timezone", "/etc/machine-id",  "/etc/nsswitch.conf", "/etc/passwd",     "/etc/group",
    "/etc/OpenCL",    "/etc/nvidia",   "/dev/shm"};
constexpr std::array kDevices = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                 "/dev/urandom", "/dev/dri",  "/dev/kfd"};
// What a person may have pointed at libraries of helpers.
constexpr std::array kLibraryFolders = {"LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH", "HDF5_PLUGIN_PATH", "VIPSHOME"};
// Where drivers of GPUs keep what they compiled, in the home folder.
constexpr std::array kDriverCaches = {".nv", ".cache/pocl", ".cache/nvidia"};

void allow_system(Landlock& rules) {
  for (const char* const folder : kSystem) rules.allow(folder, Use::run);
  for (const char* const file : kSystemFiles) rules.allow(file, Use::read);
  for (const char* const device : kDevices) rules.allow(device, Use::devices);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    if (entry.path().filename().string().starts_with("nvidia")) rules.allow(entry.path(), Use::devices);
  }
  for (const char* const name : {"millrace-decoder", "millrace-hdf5", "millrace-film"})
    rules.allow(folder_of(find_helper(name)), Use::run);
  if (const auto program = real_path("/proc/self/exe")) rules.allow(folder_of(*program), Use::run);
  if (*MILLRACE_OPENVINO_LIBRARIES != '\0') rules.allow(MILLRACE_OPENVINO_LIBRARIES, Use::run);
  for (const char* const variable : kLibraryFolders) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    for (const std::string& folder : split(value, ':'))
      if (folder.starts_with('/')) rules.allow(folder, Use::run);
  }
}

// What the program and drivers keep for a person. What is not there yet is made, as only then it can be named.
void allow_kept(Landlock& rules) {
  if (const std::string cache = cache_path(""); !cache.empty()) {
    const std::string folder = folder_of(cache);
    if (is_own_folder(folder_of(folder))) static_cast<void>(make_own_folder(folder));
    rules.allow(folder, Use::write);
  }
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/') {
    for (const char* const name : kDriverCaches) rules.allow(path_in(home, name), Use::write);
  }
}

std::vector<std::string> once(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace

LockedIn lock_in(const Outputs& outputs) {
  // The first version refuses every move between two folders.
  if (Landlock::version() == 1)
    return {false, "this kernel's Landlock is the first version; the second is needed", {}, {}};
  LockedIn out;
  Landlock rules;
  allow_system(rules);
  allow_kept(rules);
  for (const std::string& folder : once(outputs.written())) {
    if (in_data_folder(real_path(folder).value_or(folder)) || in_data_folder(folder)) make_folders(folder);
    if (rules.allow(folder, Use::write)) out.writes.push_back(folder);
  }
  for (const std::string& stream : once(outputs.streams())) rules.allow(stream, Use::devices);
  for (const std::string& path : once(outputs.read())) {
    if (rules.allow(path, Use::read)) out.reads.push_back(path);
  }
  give_up_powers();
  const std::string problem = rules.enforce();
  const Wall network = close_network();
  out.holds = problem.empty();
  out.how = out.holds ? fmt::format("Landlock {}{}", Landlock::version(),
                                    network.stands ? ", no sockets" : "; sockets: " + network.how)
                      : problem;
  return out;
}

}  // namespace millrace::cli
