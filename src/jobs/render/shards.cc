#include "src/jobs/render/shards.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace::render {
namespace {

namespace fs = std::filesystem;

// A folder may be named with a slash at its end.
std::string without_slash(std::string name) {
  while (name.size() > 1 && name.ends_with("/")) name.pop_back();
  return name;
}

}  // namespace

Shards::Shards(const Plan& plan, const Options& options)
    : output_(without_slash(options.output)),
      folder_(output_ + ".shards"),
      attributes_(plan.layout.attributes),
      cut_{plan.charts, static_cast<std::uint64_t>(options.shard)},
      form_(make_form(plan, options, output_, folder_)) {
  if (options.output == "-") {
    throw Failure(ErrorCode::usage, "a store is a file or a folder, and cannot go to stdout", "-o -",
                  "name one, as charts.h5");
  }
  if (options.store == "hdf5" && options.output.ends_with("/")) {
    throw Failure(ErrorCode::usage, "it names a folder", options.output, "name a file, as charts.h5");
  }
  check_output();
  if (!finished_) check_folder();
}

Shards::~Shards() {
  if (committing_.valid()) committing_.wait();
  if (lock_ >= 0) ::close(lock_);
}

void Shards::check_output() {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(output_, error);
  if (status.type() == fs::file_type::not_found) return;
  const std::string remedy = "give another OUTPUT, or move this one away";
  if (!fs::exists(output_, error)) throw Failure(ErrorCode::conflict, "it is a link to nothing", output_, remedy);
  // A pipe would be waited for.
  if (!fs::is_regular_file(output_, error) && !fs::is_directory(output_, error)) {
    throw Failure(ErrorCode::conflict, "it is neither a file nor a folder, and a store is one of them", output_,
                  remedy);
  }
  if (::access(output_.c_str(), R_OK) != 0) throw Failure(system_error("it cannot be read", output_, errno));
  const auto there = form_->made_of(output_);
  if (!there || !tells_of_charts(*there)) {
    throw Failure(ErrorCode::conflict, "it is there and is not a store of charts", output_, remedy);
  }
  const std::string other = differences(*there, attributes_);
  if (!other.empty()) throw Failure(ErrorCode::conflict, "it was made of other things: " + other, output_, remedy);
  ours_ = true;
  finished_ = form_->whole_output();
  if (!finished_) return;
  form_->tidy();
  if (!form_->keeps_folder()) remove_left_folder();
}

// A run that was killed in its last moment has left its shards. Others' stay.
void Shards::remove_left_folder() {
  Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const auto state = folder ? state_of_descriptor(folder.get()) : std::nullopt;
  if (!state || state->owner != ::geteuid()) return;
  const auto there = attributes_in_json(fmt::format("/proc/self/fd/{}/run.json", folder.get()));
  if (!there || !differences(*there, attributes_).empty()) return;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return;
  lock_ = folder.release();
  remove_folder();
  ::close(std::exchange(lock_, -1));
}

// What is in the folder that is locked, whatever has its name by now. run.json goes last: what it stands beside is
// ours.
void Shards::remove_folder() {
  constexpr const char* kRun = "run.json";
  const Descriptor listed(::openat(lock_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::string> names;
  if (DIR* const handle = listed ? ::fdopendir(::dup(listed.get())) : nullptr; handle != nullptr) {
    while (const dirent* entry = ::readdir(handle)) names.emplace_back(entry->d_name);
    ::closedir(handle);
  }
  if (std::find(names.begin(), names.end(), kRun) != names.end()) {
    for (const std::string& name : names) {
      if (name != kRun && name != "." && name != "..") ::unlinkat(lock_, name.c_str(), 0);
    }
    ::unlinkat(lock_, kRun, 0);
  }
  ::rmdir(folder_.c_str());
}

// The names in it are known to everybody: it is worked in only where nobody else can put a link under one of them.
void Shards::check_owner() {
  const auto state = state_of_descriptor(lock_);
  if (!state || state->owner != ::geteuid()) {
    throw Failure(ErrorCode::conflict, "the folder for its shards belongs to another user", folder_,
                  "give another OUTPUT");
  }
  // Where there are no modes nobody is kept out by them, and this changes nothing.
  if ((state->mode & 022) != 0) ::fchmod(lock_, state->mode & ~022U);
}

void Shards::check_folder() {
  std::error_code error;
  if (::mkdir(folder_.c_str(), 0755) != 0 && errno != EEXIST) {
    if (errno == ENOENT) {
      throw Failure(ErrorCode::not_found, "its folder is not there", output_, "create the folder first");
    }
    throw Failure(system_error("it cannot be created", folder_, errno));
  }
  // Given back by the system when the run ends, however it ends.
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_ < 0) throw Failure(system_error("it cannot be opened", folder_, errno));
  check_owner();
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    throw Failure(ErrorCode::conflict, "another run is drawing the same output", folder_, "wait for it to end");
  }
  // Between the look at the output and the lock, another run may have finished. Then the folder is empty, or not ours.
  try {
    check_output();
  } catch (...) {
    fs::remove(folder_, error);
    throw;
  }
  if (finished_) {
    fs::remove(folder_, error);
    return;
  }
  struct stat locked {
  }, named{};
  if (::fstat(lock_, &locked) != 0 || ::stat(folder_.c_str(), &named) != 0 || locked.st_ino != named.st_ino) {
    throw Failure(ErrorCode::conflict, "another run has just finished it", output_, "run the same command again");
  }
  const std::string run = folder_ + "/run.json";
  Attributes now = attributes_;
  if (now.end() == std::find_if(now.begin(), now.end(), [](const auto& entry) { return entry.first == "shard"; })) {
    now.emplace_back("shard", std::to_string(cut_.each));
  }
  if (fs::exists(run, error)) {
    const auto there = attributes_in_json(run);
    const std::string other = there ? differences(*there, now) : there.error().what;
    if (!other.empty()) {
      throw Failure(ErrorCode::conflict, "an unfinished run made it of other things: " + other, folder_,
                    "go on with what it was made of, give another OUTPUT, or remove this folder");
    }
    return form_->begin();
  }
  // What a run that was killed while it wrote run.json has left. Shards without run.json are not ours.
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().filename().string().starts_with(AtomicFile::kTemporaryPrefix)) fs::remove(entry.path(), error);
  }
  if (!fs::is_empty(folder_, error)) {
    throw Failure(ErrorCode::conflict, "it holds files that no run knows", folder_,
                  "give another OUTPUT, or move this folder away");
  }
  write_file(run, json_of(now));
  form_->begin();
}

bool Shards::take(std::uint64_t k) {
  if (!form_->has(k)) return false;
  form_->take(k);
  return true;
}

void Shards::write(std::uint64_t k, const std::function<void(ChartSink&)>& fill) {
  std::unique_ptr<ChartSink> sink = form_->open(k);
  fill(*sink);
  sink->finish();
  settle();
  written_ = std::move(sink);
  committing_ = std::async(std::launch::async, [this] { written_->commit(); });
}

void Shards::settle() {
  if (committing_.valid()) committing_.get();
  written_.reset();
}

void Shards::finish() {
  form_->publish(ours_);
  if (!form_->keeps_folder()) remove_folder();
}

std::uint64_t Shards::output_bytes() const {
  std::error_code error;
  if (!fs::is_directory(output_, error)) {
    const auto bytes = fs::file_size(output_, error);
    return error ? 0 : bytes;
  }
  std::uint64_t sum = 0;
  for (auto entry = fs::recursive_directory_iterator(output_, error); entry != fs::end(entry); entry.increment(error)) {
    if (error) break;
    const auto bytes = entry->is_regular_file(error) ? entry->file_size(error) : 0;
    if (!error) sum += bytes;
  }
  return sum;
}

}  // namespace millrace::render
