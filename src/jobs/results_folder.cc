#include "src/jobs/results_folder.h"

#include <unistd.h>

#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace {
namespace {

// Throws Failure(conflict) unless the results in the folder have the same provenance. Returns false if there is no
// run.json.
bool check_run_file(const std::string& folder, const Attributes& now) {
  const std::string record = join_path(folder, RunFolder::kRunFile);
  std::error_code error;
  if (!std::filesystem::exists(record, error)) return false;
  const auto then = read_json_attributes(record);
  if (!then || then->empty() || then->front() != now.front()) {
    throw Failure(ErrorCode::conflict, "the run.json in this folder is not from this job", escape_unprintable(folder),
                  "use another folder");
  }
  const std::string different = describe_differences(*then, now);
  if (!different.empty()) {
    throw Failure(ErrorCode::conflict, "its results were made with other options or inputs: " + different,
                  escape_unprintable(folder),
                  is_from_other_hardware(*then, now) ? kMixedHardwareRemedy
                                                     : "use another folder, or the same options and inputs");
  }
  return true;
}

}  // namespace

void check_folder(const std::string& folder, const Attributes& now, const std::string& work_folder) {
  // Names that a concurrent run may have in the folder before it writes run.json.
  const auto is_of_a_run = [&](const std::string& name) {
    return name == work_folder || name.starts_with(AtomicFile::kTemporaryPrefix);
  };
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  if (!std::filesystem::is_directory(folder, error)) {
    throw Failure(ErrorCode::conflict, "it already exists and is not a folder", escape_unprintable(folder),
                  "use another name");
  }
  if (check_run_file(folder, now)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (is_of_a_run(entry.path().filename().string()) || check_run_file(folder, now)) continue;
    throw Failure(ErrorCode::conflict, "this folder is not empty and has no results of this job",
                  escape_unprintable(folder), "use a new or empty folder");
  }
  if (error) throw Failure(system_error("the folder cannot be read", escape_unprintable(folder), error.value()));
}

void claim_folder(const std::string& folder, const Attributes& now, const std::string& work_folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (error) throw Failure(system_error("the folder cannot be created", escape_unprintable(folder), error.value()));
  }
  check_folder(folder, now, work_folder);
  if (check_run_file(folder, now)) return;
  // If several runs start at once, the run.json of the first is kept.
  try {
    AtomicFile file(join_path(folder, RunFolder::kRunFile), OverwritePolicy{.any_file = false, .examined = {}},
                    ReadAccess::everyone);
    file.write(millrace::json_of(now));
    file.commit();
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::conflict || !check_run_file(folder, now)) throw;
  }
}

void make_folder_below(const std::string& top, const std::string& folder) {
  std::string at = top;
  for (const auto& part : std::filesystem::path(folder).lexically_relative(top)) {
    if (part.empty() || part == ".") continue;
    at = join_path(at, part.string());
    std::error_code error;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(at, error))) {
      throw Failure(ErrorCode::conflict,
                    "it is a symbolic link that leads elsewhere, and results would be written there", at,
                    "remove the link");
    }
    std::filesystem::create_directory(at, error);
    if (error) throw Failure(system_error("the folder cannot be created", at, error.value()));
  }
}

void throw_if_nothing_can_be_written(const Error& error, const std::string& folder) {
  constexpr std::uintmax_t kMinFreeBytes = 1 << 20;
  std::error_code problem;
  const auto space = std::filesystem::space(folder, problem);
  const bool full = error.code == ErrorCode::io && (problem || space.available < kMinFreeBytes);
  if (full || ::access(folder.c_str(), W_OK) != 0) throw Failure(error);
}

void remove_stale_temporaries(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error) && entry.path().filename().string().starts_with(AtomicFile::kTemporaryPrefix))
      std::filesystem::remove(entry.path(), error);
  }
}

}  // namespace millrace
