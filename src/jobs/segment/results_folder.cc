#include "src/jobs/segment/results_folder.h"

#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/jobs/segment/unfinished.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::segment {
namespace {

// The results in the folder, if there are any, are of the same. False where no run.json is there.
bool check_run_file(const std::string& folder, const Attributes& now) {
  const std::string record = path_in(folder, kRunFile);
  std::error_code error;
  if (!std::filesystem::exists(record, error)) return false;
  const auto then = attributes_in_json(record);
  if (!then || then->empty() || then->front() != now.front()) {
    throw Failure(ErrorCode::conflict, "this folder's run.json was written by something else", printable(folder),
                  "give another folder");
  }
  const std::string different = differences(*then, now);
  if (!different.empty()) {
    throw Failure(ErrorCode::conflict, "the results in it were made otherwise: " + different, printable(folder),
                  "give another folder, or the same options");
  }
  return true;
}

// What a run has there that begins at the same time, before its run.json.
bool is_of_a_run(const std::string& name) {
  return name + "/" == kUnfinishedFolder || name.starts_with(AtomicFile::kTemporaryPrefix);
}

}  // namespace

void claim_folder(const Options& options, const Attributes& now) {
  std::error_code error;
  if (!std::filesystem::exists(options.output, error)) {
    std::filesystem::create_directories(options.output, error);
    if (error) throw Failure(system_error("the folder cannot be made", printable(options.output), error.value()));
  }
  if (!std::filesystem::is_directory(options.output, error)) {
    throw Failure(ErrorCode::conflict, "it is there, and is not a folder", printable(options.output),
                  "give another name");
  }
  if (check_run_file(options.output, now)) return;
  for (const auto& entry : std::filesystem::directory_iterator(options.output, error)) {
    if (is_of_a_run(entry.path().filename().string()) || check_run_file(options.output, now)) continue;
    throw Failure(ErrorCode::conflict, "this folder is not empty, and no results of this job are in it",
                  printable(options.output), "give a new folder");
  }
  if (error) throw Failure(system_error("the folder cannot be read", printable(options.output), error.value()));
  // Of several that begin at once, the first one's stands.
  try {
    AtomicFile file(path_in(options.output, kRunFile), Replaceable{.anything = false, .looked_at = {}},
                    Readers::everyone);
    file.write(millrace::json_of(now));
    file.commit();
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::conflict || !check_run_file(options.output, now)) throw;
  }
}

void remove_litter(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error) && entry.path().filename().string().starts_with(AtomicFile::kTemporaryPrefix))
      std::filesystem::remove(entry.path(), error);
  }
}

}  // namespace millrace::segment
