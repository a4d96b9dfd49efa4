#include "src/cli/program_sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "src/base/text.h"
#include "src/io/file/trusted_file.h"
#include "src/io/process/helper/landlock.h"
#include "src/io/process/helper/sandbox.h"
#include "src/io/process/helper_path.h"

namespace millrace::cli {
namespace {

using Use = Landlock::Use;

// Folders from which programs and libraries are started.
constexpr std::array kSystemFolders = {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store"};
// Files and folders that programs read at their start. /etc is listed file by file: root can read secrets there.
constexpr std::array kSystemFiles = {
    "/proc",          "/sys",          "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/timezone", "/etc/machine-id",  "/etc/nsswitch.conf", "/etc/passwd",     "/etc/group",
    "/etc/OpenCL",    "/etc/nvidia"};
constexpr std::array kDevices = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                 "/dev/urandom", "/dev/dri",  "/dev/kfd"};
// Environment variables with folders of libraries, for helpers too.
constexpr std::array kLibraryFolders = {"LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH", "HDF5_PLUGIN_PATH", "VIPSHOME"};

void allow_system(Landlock& rules) {
  for (const char* const folder : kSystemFolders) rules.allow(folder, Use::run);
  for (const char* const file : kSystemFiles) rules.allow(file, Use::read);
  for (const char* const device : kDevices) rules.allow(device, Use::devices);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    if (entry.path().filename().string().starts_with("nvidia")) rules.allow(entry.path(), Use::devices);
  }
  for (const char* const name : {"millrace-decoder", "millrace-hdf5", "millrace-film", "libmillrace-openvino.so"})
    rules.allow(find_helper(name), Use::run);
  if (const auto program = real_path("/proc/self/exe")) rules.allow(*program, Use::run);
  if (*MILLRACE_OPENVINO_LIBRARIES != '\0') rules.allow(MILLRACE_OPENVINO_LIBRARIES, Use::run);
  for (const char* const variable : kLibraryFolders) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    for (const std::string& folder : split(value, ':'))
      if (folder.starts_with('/')) rules.allow(folder, Use::run);
  }
}

// Gives sandboxed runs their own cache, so that no other run loads a file that a compromised program left there. GPU
// drivers keep their compiled kernels in it, too.
void use_own_cache(Landlock& rules, std::vector<std::string>& writes) {
  const std::string cache = cache_path("sandboxed");
  if (cache.empty() || !cache.starts_with('/')) return;
  try {
    make_private_folders(cache);
  } catch (const Failure&) {
    return;  // a run works without a cache
  }
  if (!make_trusted_folder(cache).ok()) return;
  for (const char* const variable : {"XDG_CACHE_HOME", "CUDA_CACHE_PATH", "POCL_CACHE_DIR"})
    ::setenv(variable, cache.c_str(), 1);
  if (rules.allow(cache, Use::write)) writes.push_back(cache);
}

std::vector<std::string> sort_unique(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

// Closes all files that were not allowed. Version 1 of Landlock refuses every move between two folders.
SandboxLayer restrict_files(Landlock& rules, int version) {
  if (version == 1) return {"files", false, "this kernel has version 1 of Landlock; version 2 is required"};
  SandboxLayer capabilities = drop_capabilities();
  if (!capabilities.is_active) return capabilities;
  const std::string problem = rules.enforce();
  return {"files", problem.empty(), problem};
}

}  // namespace

SandboxReport enter_sandbox(const OutputRegistry& outputs) {
  SandboxReport out;
  Landlock rules;
  allow_system(rules);
  use_own_cache(rules, out.writes);
  for (const std::string& folder : sort_unique(outputs.write_folders())) {
    if (is_in_data_folder(real_path(folder).value_or(folder)) || is_in_data_folder(folder))
      make_private_folders(folder);
    // A folder that does not exist yet is created in the nearest existing parent, which is therefore allowed.
    std::string there = folder;
    while (!real_path(there) && there != folder_of(there)) there = folder_of(there);
    if (rules.allow(there, Use::write)) out.writes.push_back(real_path(there).value_or(there));
  }
  out.writes = sort_unique(out.writes);
  for (const std::string& stream : sort_unique(outputs.streams())) rules.allow(stream, Use::devices);
  for (const std::string& path : sort_unique(outputs.read_paths())) {
    if (rules.allow(path, Use::read)) out.reads.push_back(real_path(path).value_or(path));
  }
  const int version = Landlock::version();
  const SandboxLayer files = restrict_files(rules, version), calls = refuse_dangerous_calls();
  out.is_enforced = files.is_active && calls.is_active;
  if (files.is_active) mark_files_sandboxed();
  if (out.is_enforced) {
    out.how = fmt::format("Landlock {}, seccomp", version);
  } else {
    out.how = files.is_active
                  ? fmt::format("files are restricted (Landlock {}), the network and other system calls are not: {}",
                                version, calls.how)
                  : files.how;
  }
  return out;
}

}  // namespace millrace::cli
