#include "src/pipeline/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/store/checksums.h"
#include "src/io/store/import_shard.h"
#include "src/pipeline/checkpoint/shard_record.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

// Runs `work`. A failure in the folder is reported with the folder's name, not with the path of its descriptor.
template <typename Work>
auto with_user_paths(const RunFolder& folder, Work&& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    throw Failure(folder.restore_user_paths(failure.error()));
  }
}

bool has_attribute(const Attributes& attributes, const std::string& name) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const auto& entry) { return entry.first == name; });
}

template <typename Work>
double measure_seconds(Work&& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

}  // namespace

Checkpoint::Checkpoint(CheckpointSpec spec)
    : spec_(std::move(spec)),
      folder_(spec_.output),
      parts_{spec_.dataset.rows, spec_.each},
      store_(make_shard_store(spec_.store, spec_.dataset, parts_, folder_)) {
  if (spec_.output == "-") {
    throw Failure(ErrorCode::usage, "this output cannot be written to stdout", "-o -", "name a file or folder");
  }
  const bool file = spec_.store == StoreKind::hdf5 || spec_.store == StoreKind::hdf5_virtual;
  if (file && spec_.output.ends_with("/")) {
    throw Failure(ErrorCode::usage, "it names a folder, and this output is a file", spec_.output,
                  "name a file, such as data.h5");
  }
  if (parts_.count() > kMaxShards) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("too many shards ({}; the limit is {})", group_digits(parts_.count()), group_digits(kMaxShards)),
        "--shard", "use larger shards");
  }
  check_replaceable();
  if (!finished_) with_user_paths(folder_, [&] { check_folder(); });
}

Checkpoint::~Checkpoint() {
  if (committing_.valid()) committing_.wait();
}

void Checkpoint::check_replaceable() {
  const std::string& output = folder_.output();
  std::error_code error;
  const fs::file_status status = fs::symlink_status(output, error);
  if (status.type() == fs::file_type::not_found) return;
  const std::string remedy = "give another OUTPUT, or move this one away";
  if (!fs::exists(output, error))
    throw Failure(ErrorCode::conflict, "it is a symbolic link to a missing file", output, remedy);
  // Opening a named pipe would block.
  if (!fs::is_regular_file(output, error) && !fs::is_directory(output, error)) {
    throw Failure(ErrorCode::conflict, "it already exists and is neither a file nor a folder", output, remedy);
  }
  // Only the file that is examined from here on may be replaced, and no file that has its name later.
  const auto state = state_of_name(AT_FDCWD, output);
  if (::access(output.c_str(), R_OK) != 0) throw Failure(system_error("it cannot be read", output, errno));
  const auto there = store_->provenance(output);
  // If the helper is missing, the file is not to blame.
  if (!there && there.error().code == ErrorCode::unavailable) throw Failure(there.error());
  if (!there || !has_attribute(*there, spec_.mark)) {
    throw Failure(ErrorCode::conflict, "it already exists and is not an output of this job", output, remedy);
  }
  const std::string other = describe_differences(*there, spec_.dataset.attributes);
  if (!other.empty())
    throw Failure(ErrorCode::conflict, "it was made with other options or inputs: " + other, output, remedy);
  replaceable_output_ = state;
  finished_ = store_->is_output_complete();
  if (!finished_) return;
  refuse_if_truncated();
  store_->remove_leftovers();
  if (store_->keeps_folder()) return folder_.remove_stale_files();
  remove_leftover_folder(folder_, spec_.dataset.attributes);
}

// Refuses a finished output if sizes show that it is damaged: "nothing to do" would hide the damage.
void Checkpoint::refuse_if_truncated() const {
  const std::string& output = folder_.output();
  const auto checksums = read_store_checksums(output);
  if (!checksums) return;
  const std::vector<std::string> gone = find_missing_or_short(output, checksums->second);
  if (gone.empty()) return;
  throw Failure(ErrorCode::conflict,
                fmt::format("it was complete, but '{}' is missing or too short{}", escape_unprintable(gone.front()),
                            gone.size() > 1 ? fmt::format(", and {} more files", group_digits(gone.size() - 1)) : ""),
                output, "remove it and run the same command again; millrace finish --check verifies all files");
}

void Checkpoint::check_folder() {
  folder_.hold(hold(), RunFolder::Missing::make, spec_.check_cancelled);
  try {
    // Another run may have finished between the check of the output and the lock. Then the folder is empty, or not
    // ours.
    check_replaceable();
    if (finished_) return folder_.abandon();
    if (!folder_.has_its_name()) {
      throw Failure(ErrorCode::conflict, "another run has just finished it", folder_.output(),
                    "run the same command again");
    }
    check_run_file();
  } catch (const Failure& failure) {
    const Error error = folder_.restore_user_paths(failure.error());
    folder_.abandon();
    throw Failure(error);
  }
  store_->begin(hold());
  there_.resize(parts_.count());
  damaged_.resize(parts_.count());
  checked_.resize(parts_.count());
  for (std::uint64_t k = 0; k < parts_.count(); ++k) {
    if (!spec_.share.has_shard(k)) continue;
    spec_.check_cancelled();
    there_[k] = checked_[k] = is_whole(k);
    damaged_[k] = !there_[k] && store_->is_committed(k);
  }
}

void Checkpoint::check_run_file() {
  std::error_code error;
  const std::string run = folder_.path(RunFolder::kRunFile);
  Attributes now = spec_.dataset.attributes;
  if (!has_attribute(now, "shard")) now.emplace_back("shard", std::to_string(parts_.each));
  if (!fs::exists(run, error)) {
    // run.json is missing if a run was killed while it wrote it. A run that shares the folder may also begin now, and
    // write the same text. Shards without run.json are not ours; RunFolder has checked that there are none.
    write_if_absent(run, json_of(now));
  }
  const auto there = read_json_attributes(run);
  const std::string other = there ? describe_differences(*there, now) : there.error().what;
  if (!other.empty()) {
    throw Failure(ErrorCode::conflict, "its unfinished work has other options or inputs: " + other, folder_.name(),
                  "use the same options and inputs to resume, give another OUTPUT, or remove this folder");
  }
  if (!fs::exists(folder_.path(kShardsFile), error)) write_shards_file();
  if (spec_.share) check_run_count(folder_, spec_.share);
  if (!spec_.share) folder_.remove_stale_temporaries();
}

void Checkpoint::write_shards_file() const {
  write_file(folder_.path(kShardsFile),
             json_of(ShardsFile{choice_name(spec_.store), spec_.mark, parts_, spec_.dataset}));
}

std::optional<Checkpoint::Task> Checkpoint::next() {
  for (; next_ < parts_.count(); ++next_) {
    const std::uint64_t k = next_;
    if (!spec_.share.has_shard(k)) continue;
    if (there_[k]) {
      ++next_;
      return Task{k, true};
    }
    // A shard that another run has made since is not made again.
    if (spec_.share && !folder_.claim(k)) {
      claimed_.push_back(k);
      continue;
    }
    if (spec_.share && is_made_since(k)) {
      folder_.release_claim(k);
      continue;
    }
    ++next_;
    return Task{k, false};
  }
  // Shards that other runs had claimed come last: such a run may have died on another machine.
  while (!claimed_.empty()) {
    const std::uint64_t k = claimed_.back();
    claimed_.pop_back();
    if (!folder_.wait_and_claim(k, spec_.check_cancelled)) continue;
    if (!is_made_since(k)) return Task{k, false};
    folder_.release_claim(k);
  }
  return std::nullopt;
}

void Checkpoint::take(std::uint64_t k) {
  if (!spec_.share) with_user_paths(folder_, [&] { store_->take(k); });
}

void Checkpoint::append(std::uint64_t k, const RowBlock& block) {
  with_user_paths(folder_, [&] {
    if (opened_ != k) {
      writer_ = store_->open(k);
      opened_ = k;
      rows_ = 0;
    }
    writer_->append(block);
    rows_ += block.rows;
  });
}

void Checkpoint::end(std::uint64_t k) {
  with_user_paths(folder_, [&] {
    // A shard of a join has any number of pairs.
    const bool counted = spec_.dataset.arrays.front().extension != "pairs";
    if (const std::uint64_t wanted = parts_.end(k) - parts_.begin(k); counted && rows_ != wanted) {
      throw Failure(ErrorCode::internal, fmt::format("shard {} has {} of {} rows", k, rows_, wanted), folder_.name());
    }
    writer_->finish();
    wait();
    written_ = std::move(writer_);
    opened_.reset();
  });
  checked_[k] = true;
  written_files_[k] = written_->digests();
  committing_ = std::async(std::launch::async, [this, k] {
    // The record describes the bytes that were written, not those that are there when it is made.
    const std::vector<FileDigest>& files = written_files_.at(k);
    // The record is written before the commit: a shard without its record would be made again.
    if (!files.empty()) record(k, files);
    written_->commit();
    if (spec_.share) folder_.release_claim(k);
  });
}

// Another run may have made the shard, or made it again, since this run checked.
bool Checkpoint::is_made_since(std::uint64_t k) { return store_->is_committed(k) && (!damaged_[k] || is_whole(k)); }

// Returns false if the shard's bytes have changed: it is then made again.
bool Checkpoint::is_whole(std::uint64_t k) const {
  return store_->has_shard(k) &&
         is_as_recorded(store_->bytes_of(k, folder_.path()), folder_.path(), k, inputs_of(k), spec_.check_cancelled);
}

// Returns true if the shard is the one that this run has checked or made: another run may have made it again since.
bool Checkpoint::is_as_checked(std::uint64_t k) const {
  if (!checked_[k]) return false;
  const auto written = written_files_.find(k);
  if (written == written_files_.end()) return true;
  const auto record = read_shard_record(folder_.path(shard_record_name(k)), k);
  return record ? record->files == written->second : written->second.empty();
}

std::uint64_t Checkpoint::inputs_of(std::uint64_t k) const {
  return spec_.input_state ? spec_.input_state(parts_.begin(k), parts_.end(k)) : 0;
}

void Checkpoint::record(std::uint64_t k, std::span<const FileDigest> files) const {
  ShardRecord recorded;
  recorded.part = k;
  recorded.rows = parts_.end(k) - parts_.begin(k);
  recorded.files.assign(files.begin(), files.end());
  recorded.inputs = inputs_of(k);
  recorded.host = machine_name();
  recorded.run = spec_.share ? fmt::format("{}/{}", spec_.share.index + 1, spec_.share.of) : "1/1";
  write_file_unsynced(folder_.path(shard_record_name(k)), json_of(recorded));
}

// Removes the record of a damaged shard: the next run then makes the shard again.
void Checkpoint::drop_damaged(std::uint64_t k) const { ::unlink(folder_.path(shard_record_name(k)).c_str()); }

void Checkpoint::check_import(std::uint64_t k, const RunFolder& other, const std::function<void()>& check_cancelled) {
  const ShardBytes theirs = store_->bytes_of(k, other.path());
  if (theirs.empty()) return;
  const auto recorded = read_shard_record(other.path(shard_record_name(k)), k);
  if (recorded && !has_recorded_hash(theirs, *recorded, check_cancelled)) {
    throw Failure(ErrorCode::bad_data,
                  fmt::format("its shard {} (counted from 0) does not match the checksum that run {} recorded", k,
                              escape_unprintable(recorded->run)),
                  other.name(), "copy the folder again, or repeat the run with that --part where the shard was made");
  }
  if (!there_[k] || !store_->is_reproducible()) return;
  const ShardBytes ours = store_->bytes_of(k, folder_.path());
  if (have_same_bytes(theirs, ours, check_cancelled)) return;
  const auto recorded_here = read_shard_record(folder_.path(shard_record_name(k)), k);
  if (recorded_here && !has_recorded_hash(ours, *recorded_here, check_cancelled)) {
    there_[k] = false;  // ours is damaged, and theirs replaces it
    return;
  }
  throw Failure(
      ErrorCode::conflict,
      fmt::format("its shard {} (counted from 0) differs from the same shard in another folder", k), other.name(),
      "one of the two is damaged or was made on different hardware: leave out the folder that you do not trust");
}

void Checkpoint::import(const std::string& folder, const std::function<void()>& check_cancelled) {
  RunFolder other = RunFolder::from_shards_folder(folder);
  std::error_code error;
  if (fs::equivalent(other.name(), folder_.name(), error)) return;
  with_user_paths(other, [&] {
    other.hold(RunFolder::Hold::alone, RunFolder::Missing::refuse);
    const auto theirs = read_json_attributes(other.path(RunFolder::kRunFile));
    const auto ours = read_json_attributes(folder_.path(RunFolder::kRunFile)).or_throw();
    const std::string differs = theirs ? describe_differences(*theirs, ours) : theirs.error().what;
    if (!differs.empty()) {
      throw Failure(ErrorCode::conflict, "it was made with other options or inputs: " + differs, other.name(),
                    "name only folders that the same command made");
    }
    with_user_paths(folder_, [&] {
      for (std::uint64_t k = 0; k < parts_.count(); ++k) {
        check_cancelled();
        check_import(k, other, check_cancelled);
        if (there_[k] || !store_->import(k, other.path())) continue;
        import_file(other.path(), shard_record_name(k), folder_.path(), {folder_.path()});
        there_[k] = checked_[k] = is_whole(k);
      }
    });
  });
}

std::vector<std::uint64_t> Checkpoint::unmade_shards() const {
  std::vector<std::uint64_t> out;
  for (std::uint64_t k = 0; k < there_.size(); ++k) {
    if (!there_[k]) out.push_back(k);
  }
  return out;
}

void Checkpoint::wait() {
  with_user_paths(folder_, [&] {
    if (committing_.valid()) committing_.get();
  });
  written_.reset();
}

void Checkpoint::find_missing(const std::function<bool(std::uint64_t)>& is_there) {
  missing_.clear();
  for (std::uint64_t k = 0; k < parts_.count(); ++k) {
    if (!is_there(k)) missing_.push_back(k);
  }
}

bool Checkpoint::publish(const std::function<void()>& check_cancelled) {
  wait();
  return with_user_paths(folder_, [&] {
    if (spec_.share) {
      // The order matters: of two runs that end at once, the later one to release the folder sees all shards, and is
      // alone.
      folder_.release_hold();
      find_missing([&](std::uint64_t k) { return store_->is_committed(k); });
      if (!missing_.empty() || !folder_.hold_alone(check_cancelled)) return false;
      // A run that was at the same point may have published the output, and ended before it removed the folder.
      check_replaceable();
      if (finished_) return true;
      // From here on this is the only run, and it takes the shards that all runs have made.
      folder_.remove_stale_temporaries();
      store_->begin(RunFolder::Hold::alone);
      find_missing([&](std::uint64_t k) { return (is_as_checked(k) && store_->has_shard(k)) || is_whole(k); });
      for (const std::uint64_t k : missing_) drop_damaged(k);
      if (!missing_.empty()) return false;
      for (std::uint64_t k = 0; k < parts_.count(); ++k) {
        check_cancelled();
        store_->take(k);
      }
    }
    merge_seconds_ = measure_seconds([&] { store_->assemble(check_cancelled); });
    sync_seconds_ = measure_seconds([&] {
      store_->publish({.any_file = false, .examined = replaceable_output_});
      if (!store_->keeps_folder()) folder_.remove();
    });
    return true;
  });
}

std::uint64_t Checkpoint::output_bytes() const {
  const std::string& output = folder_.output();
  std::error_code error;
  if (!fs::is_directory(output, error)) {
    const auto bytes = fs::file_size(output, error);
    return error ? 0 : bytes;
  }
  std::uint64_t sum = 0;
  for (auto entry = fs::recursive_directory_iterator(output, error); entry != fs::end(entry); entry.increment(error)) {
    if (error) break;
    const auto bytes = entry->is_regular_file(error) ? entry->file_size(error) : 0;
    if (!error) sum += bytes;
  }
  return sum;
}

}  // namespace millrace
