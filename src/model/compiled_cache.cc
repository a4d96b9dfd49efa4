#include "src/model/compiled_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/device/cpu/machine.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/trusted_file.h"
#include "src/io/store/shard_bytes.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCachedModels = 32;

constexpr const char* kLock = "lock";    // locked while a process uses the folder
constexpr const char* kWhole = "whole";  // hash of all other files, once a compilation was completed

void remove_oldest(const std::string& top, const std::string& keep) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (const auto& entry : fs::directory_iterator(top, error)) {
    if (entry.is_symlink(error) || !entry.is_directory(error) || entry.path() == keep) continue;
    all.emplace_back(entry.last_write_time(error), entry.path());
  }
  if (all.size() < kMaxCachedModels) return;
  std::sort(all.begin(), all.end());
  for (std::size_t k = 0; k <= all.size() - kMaxCachedModels; ++k) fs::remove_all(all[k].second, error);
}

// These two throw the exceptions of std::filesystem.
ShardBytes compiled_files(const std::string& folder) {
  ShardBytes out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!entry.is_symlink() && entry.is_regular_file() && name != kLock && name != kWhole)
      out.push_back({entry.path()});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

// Names, sizes and times of the files: the same text where nobody has written since.
std::string state_text(const std::string& folder) {
  std::string out;
  for (const FileRange& each : compiled_files(folder)) {
    out += fmt::format("{} {} {}\n", each.path, fs::file_size(each.path),
                       fs::last_write_time(each.path).time_since_epoch().count());
  }
  return out;
}

// Hash of the compiled files, as text. Throws Failure, and the exceptions of std::filesystem.
std::string hash_text(const std::string& folder, const CancelToken* cancel) {
  return fmt::format("{:016x}\n", hash_of(compiled_files(folder), [&] {
                       if (cancel != nullptr && cancel->cancelled()) throw Failure(interrupted());
                     }));
}

// True where every byte is as it was compiled. A network with one flipped bit would make other masks without any error.
bool is_as_compiled(const std::string& folder, const CancelToken* cancel) {
  constexpr std::uint64_t kMaxText = 64;
  const auto kept = read_text(join_path(folder, kWhole), kMaxText);
  return kept && *kept == hash_text(folder, cancel);
}

}  // namespace

std::string cache_key(const ModelFile& file, const SessionOptions& options, const std::string& runtime) {
  const std::string all = fmt::format("{} {} {} {} {} {} {} {} {}", file.digest, file.bytes, text_of(options.input),
                                      choice_name(options.precision), options.threads, options.requests,
                                      options.channels_last, runtime, describe_machine().cpu_name);
  return fmt::format("{}-{:016x}", file.digest,
                     short_hash(std::span(reinterpret_cast<const std::uint8_t*>(all.data()), all.size())));
}

Outcome<std::string> cache_folder(const std::string& top, const std::string& key) {
  try {
    make_private_folders(folder_of(top));
  } catch (const Failure& failure) {
    return failure.error();
  }
  // The cache's folders are opened without following links; the folders above may be links of the user's own.
  const auto above = real_path(folder_of(top));
  if (!above) return system_error("the folder cannot be opened", escape_unprintable(folder_of(top)), errno);
  if (!is_trusted_folder(*above)) {
    return Error{ErrorCode::conflict, "other users can write to it, and compiled models in it are executed",
                 escape_unprintable(*above), "run chmod go-w on it, or name another folder with XDG_CACHE_HOME"};
  }
  std::string out = *above;
  for (const std::string& name : {std::string(file_name(top)), key}) {
    out = join_path(out, name);
    if (auto made = make_trusted_folder(out); !made.ok()) return made.error();
  }
  std::error_code error;
  fs::last_write_time(out, fs::file_time_type::clock::now(), error);
  remove_oldest(folder_of(out), out);
  return out;
}

Outcome<CacheLock> CacheLock::wait(const std::string& folder, std::chrono::milliseconds timeout,
                                   const CancelToken* cancel) {
  try {
    CacheLock out(folder, open_trusted_file(join_path(folder, kLock), Trust::checked, true, true));
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (::flock(out.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_error("it cannot be locked", escape_unprintable(folder), errno);
      if (cancel != nullptr && cancel->cancelled()) return interrupted();
      if (std::chrono::steady_clock::now() > until)
        return Error{ErrorCode::timed_out, "another run is still compiling the same model", escape_unprintable(folder),
                     ""};
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (is_as_compiled(folder, cancel)) {
      out.found_ = state_text(folder);
    } else {
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename() != kLock) fs::remove_all(entry.path());
    }
    return out;
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const fs::filesystem_error& error) {
    return Error{ErrorCode::io, error.code().message(), escape_unprintable(folder), ""};
  }
}

void CacheLock::done() const {
  // The hash proves that all files are on the disk, even after a power failure. Without it the next run compiles again.
  try {
    if (!found_.empty() && state_text(folder_) == found_) return;  // the existing files were loaded
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file() && !entry.is_symlink()) sync_file(entry.path());
  } catch (const std::exception&) {
    return;
  }
  try {
    const std::string text = hash_text(folder_, nullptr);
    AtomicFile whole(join_path(folder_, kWhole), OverwritePolicy{}, ReadAccess::owner);
    whole.write(text);
    whole.commit();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): without it the next run compiles anew
  }
}

}  // namespace millrace::model
