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
#include "src/io/store/import_part.h"
#include "src/pipeline/checkpoint/part_record.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

// Runs `work`. A failure in the folder is reported with the folder's name, not with the path of its descriptor.
template <typename Work>
auto in_words_of(const RunFolder& folder, Work&& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    throw Failure(folder.in_words(failure.error()));
  }
}

bool has_attribute(const Attributes& attributes, const std::string& name) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const auto& entry) { return entry.first == name; });
}

template <typename Work>
double seconds_of(Work&& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

}  // namespace

Checkpoint::Checkpoint(CheckpointSpec spec)
    : spec_(std::move(spec)),
      folder_(spec_.output),
      parts_{spec_.dataset.rows, spec_.each},
      store_(make_part_store(spec_.store, spec_.dataset, parts_, folder_)) {
  if (spec_.output == "-") {
    throw Failure(ErrorCode::usage, "a store is a file or a folder, and cannot go to stdout", "-o -", "name one");
  }
  const bool file = spec_.store == StoreKind::hdf5 || spec_.store == StoreKind::hdf5_virtual;
  if (file && spec_.output.ends_with("/")) {
    throw Failure(ErrorCode::usage, "it names a folder", spec_.output, "name a file, as data.h5");
  }
  if (parts_.count() > kMostParts) {
    throw Failure(ErrorCode::usage,
                  fmt::format("{} shards are more than {}", grouped(parts_.count()), grouped(kMostParts)), "--shard",
                  "make them larger");
  }
  check_output();
  if (!finished_) in_words_of(folder_, [&] { check_folder(); });
}

Checkpoint::~Checkpoint() {
  if (committing_.valid()) committing_.wait();
}

void Checkpoint::check_output() {
  const std::string& output = folder_.output();
  std::error_code error;
  const fs::file_status status = fs::symlink_status(output, error);
  if (status.type() == fs::file_type::not_found) return;
  const std::string remedy = "give another OUTPUT, or move this one away";
  if (!fs::exists(output, error)) throw Failure(ErrorCode::conflict, "it is a link to nothing", output, remedy);
  // Opening a named pipe would block.
  if (!fs::is_regular_file(output, error) && !fs::is_directory(output, error)) {
    throw Failure(ErrorCode::conflict, "it is neither a file nor a folder, and a store is one of them", output, remedy);
  }
  // Only the file that is examined from here on may be replaced, and no file that has its name later.
  const auto state = state_of_name(AT_FDCWD, output);
  if (::access(output.c_str(), R_OK) != 0) throw Failure(system_error("it cannot be read", output, errno));
  const auto there = store_->made_of(output);
  // If the helper is missing, the file is not to blame.
  if (!there && there.error().code == ErrorCode::unavailable) throw Failure(there.error());
  if (!there || !has_attribute(*there, spec_.mark)) {
    throw Failure(ErrorCode::conflict, "it is there and is not a store of " + spec_.dataset.unit, output, remedy);
  }
  const std::string other = differences(*there, spec_.dataset.attributes);
  if (!other.empty()) throw Failure(ErrorCode::conflict, "it was made of other things: " + other, output, remedy);
  replaceable_output_ = state;
  finished_ = store_->whole_output();
  if (!finished_) return;
  refuse_if_cut();
  store_->tidy();
  if (store_->keeps_folder()) return folder_.tidy_left();
  remove_left(folder_, spec_.dataset.attributes);
}

// Refuses a finished output if sizes show that it is damaged: "nothing to do" would hide the damage.
void Checkpoint::refuse_if_cut() const {
  const std::string& output = folder_.output();
  const auto told = checksums_of_store(output);
  if (!told) return;
  const std::vector<std::string> gone = missing_or_cut(output, told->second);
  if (gone.empty()) return;
  throw Failure(ErrorCode::conflict,
                fmt::format("it is finished, but '{}' is missing or too short{}", printable(gone.front()),
                            gone.size() > 1 ? fmt::format(", and so are {} more", grouped(gone.size() - 1)) : ""),
                output, "remove it, and run the same command again; millrace finish --check compares all bytes");
}

void Checkpoint::check_folder() {
  folder_.hold(hold(), RunFolder::Missing::make, spec_.go_on);
  try {
    // Another run may have finished between the check of the output and the lock. Then the folder is empty, or not
    // ours.
    check_output();
    if (finished_) return folder_.abandon();
    if (!folder_.has_its_name()) {
      throw Failure(ErrorCode::conflict, "another run has just finished it", folder_.output(),
                    "run the same command again");
    }
    check_run_file();
  } catch (const Failure& failure) {
    const Error error = folder_.in_words(failure.error());
    folder_.abandon();
    throw Failure(error);
  }
  store_->begin(hold());
  there_.resize(parts_.count());
  damaged_.resize(parts_.count());
  checked_.resize(parts_.count());
  for (std::uint64_t k = 0; k < parts_.count(); ++k) {
    if (!spec_.share.has(k)) continue;
    spec_.go_on();
    there_[k] = checked_[k] = is_whole(k);
    damaged_[k] = !there_[k] && store_->named(k);
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
    write_first(run, json_of(now));
  }
  const auto there = attributes_in_json(run);
  const std::string other = there ? differences(*there, now) : there.error().what;
  if (!other.empty()) {
    throw Failure(ErrorCode::conflict, "an unfinished run made it of other things: " + other, folder_.name(),
                  "go on with what it was made of, give another OUTPUT, or remove this folder");
  }
  if (!fs::exists(folder_.path(kPartsFile), error)) write_parts_file();
  if (spec_.share) agree_on_runs(folder_, spec_.share);
  if (!spec_.share) folder_.remove_partial();
}

void Checkpoint::write_parts_file() const {
  write_file(folder_.path(kPartsFile), json_of(PartsFile{choice_name(spec_.store), spec_.mark, parts_, spec_.dataset}));
}

std::optional<Checkpoint::Task> Checkpoint::next() {
  for (; next_ < parts_.count(); ++next_) {
    const std::uint64_t k = next_;
    if (!spec_.share.has(k)) continue;
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
      folder_.unclaim(k);
      continue;
    }
    ++next_;
    return Task{k, false};
  }
  // Shards that other runs had claimed come last: such a run may have died on another machine.
  while (!claimed_.empty()) {
    const std::uint64_t k = claimed_.back();
    claimed_.pop_back();
    if (!folder_.claim_when_known(k, spec_.go_on)) continue;
    if (!is_made_since(k)) return Task{k, false};
    folder_.unclaim(k);
  }
  return std::nullopt;
}

void Checkpoint::take(std::uint64_t k) {
  if (!spec_.share) in_words_of(folder_, [&] { store_->take(k); });
}

void Checkpoint::append(std::uint64_t k, const RowBlock& block) {
  in_words_of(folder_, [&] {
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
  in_words_of(folder_, [&] {
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
    if (spec_.share) folder_.unclaim(k);
  });
}

// Another run may have made the shard, or made it again, since this run checked.
bool Checkpoint::is_made_since(std::uint64_t k) { return store_->named(k) && (!damaged_[k] || is_whole(k)); }

// Returns false if the shard's bytes have changed: it is then made again.
bool Checkpoint::is_whole(std::uint64_t k) const {
  return store_->has(k) &&
         is_as_recorded(store_->bytes_of(k, folder_.path()), folder_.path(), k, inputs_of(k), spec_.go_on);
}

// Returns true if the shard is the one that this run has checked or made: another run may have made it again since.
bool Checkpoint::is_as_checked(std::uint64_t k) const {
  if (!checked_[k]) return false;
  const auto written = written_files_.find(k);
  if (written == written_files_.end()) return true;
  const auto record = part_record(folder_.path(part_record_name(k)), k);
  return record ? record->files == written->second : written->second.empty();
}

std::uint64_t Checkpoint::inputs_of(std::uint64_t k) const {
  return spec_.input_state ? spec_.input_state(parts_.begin(k), parts_.end(k)) : 0;
}

void Checkpoint::record(std::uint64_t k, std::span<const FileDigest> files) const {
  PartRecord said;
  said.part = k;
  said.rows = parts_.end(k) - parts_.begin(k);
  said.files.assign(files.begin(), files.end());
  said.inputs = inputs_of(k);
  said.host = machine_name();
  said.run = spec_.share ? fmt::format("{}/{}", spec_.share.index + 1, spec_.share.of) : "1/1";
  write_file_unsynced(folder_.path(part_record_name(k)), json_of(said));
}

// Removes the record of a damaged shard: the next run then makes the shard again.
void Checkpoint::drop_damaged(std::uint64_t k) const { ::unlink(folder_.path(part_record_name(k)).c_str()); }

void Checkpoint::check_import(std::uint64_t k, const RunFolder& other, const std::function<void()>& go_on) {
  const PartBytes theirs = store_->bytes_of(k, other.path());
  if (theirs.empty()) return;
  const auto said = part_record(other.path(part_record_name(k)), k);
  if (said && !has_recorded_hash(theirs, *said, go_on)) {
    throw Failure(ErrorCode::bad_data,
                  fmt::format("its shard {} (counted from 0) is not what part {} has written", k, printable(said->run)),
                  other.name(), "bring the folder here again, or have that part make it again where it was made");
  }
  if (!there_[k] || !store_->has_one_form()) return;
  const PartBytes ours = store_->bytes_of(k, folder_.path());
  if (same_bytes(theirs, ours, go_on)) return;
  const auto said_here = part_record(folder_.path(part_record_name(k)), k);
  if (said_here && !has_recorded_hash(ours, *said_here, go_on)) {
    there_[k] = false;  // ours is damaged, and theirs replaces it
    return;
  }
  throw Failure(ErrorCode::conflict,
                fmt::format("its shard {} (counted from 0) has other bytes than the same one elsewhere", k),
                other.name(),
                "one of the two is damaged, or was made on a machine that computes otherwise: leave out the "
                "folder that is not believed");
}

void Checkpoint::import(const std::string& folder, const std::function<void()>& go_on) {
  RunFolder other = RunFolder::of_parts(folder);
  std::error_code error;
  if (fs::equivalent(other.name(), folder_.name(), error)) return;
  in_words_of(other, [&] {
    other.hold(RunFolder::Hold::alone, RunFolder::Missing::refuse);
    const auto theirs = attributes_in_json(other.path(RunFolder::kRunFile));
    const auto ours = attributes_in_json(folder_.path(RunFolder::kRunFile)).or_throw();
    const std::string differs = theirs ? differences(*theirs, ours) : theirs.error().what;
    if (!differs.empty()) {
      throw Failure(ErrorCode::conflict, "it was made of other things: " + differs, other.name(),
                    "name folders of runs of one command");
    }
    in_words_of(folder_, [&] {
      for (std::uint64_t k = 0; k < parts_.count(); ++k) {
        go_on();
        check_import(k, other, go_on);
        if (there_[k] || !store_->import(k, other.path())) continue;
        import_file(other.path(), part_record_name(k), folder_.path(), {folder_.path()});
        there_[k] = checked_[k] = is_whole(k);
      }
    });
  });
}

std::vector<std::uint64_t> Checkpoint::not_made() const {
  std::vector<std::uint64_t> out;
  for (std::uint64_t k = 0; k < there_.size(); ++k) {
    if (!there_[k]) out.push_back(k);
  }
  return out;
}

void Checkpoint::wait() {
  in_words_of(folder_, [&] {
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

bool Checkpoint::publish(const std::function<void()>& go_on) {
  wait();
  return in_words_of(folder_, [&] {
    if (spec_.share) {
      // The order matters: of two runs that end at once, the later one to release the folder sees all shards, and is
      // alone.
      folder_.let_others_in();
      find_missing([&](std::uint64_t k) { return store_->named(k); });
      if (!missing_.empty() || !folder_.hold_alone(go_on)) return false;
      // A run that was at the same point may have published the output, and ended before it removed the folder.
      check_output();
      if (finished_) return true;
      // From here on this is the only run, and it takes the shards that all runs have made.
      folder_.remove_partial();
      store_->begin(RunFolder::Hold::alone);
      find_missing([&](std::uint64_t k) { return (is_as_checked(k) && store_->has(k)) || is_whole(k); });
      for (const std::uint64_t k : missing_) drop_damaged(k);
      if (!missing_.empty()) return false;
      for (std::uint64_t k = 0; k < parts_.count(); ++k) {
        go_on();
        store_->take(k);
      }
    }
    joining_seconds_ = seconds_of([&] { store_->assemble(go_on); });
    syncing_seconds_ = seconds_of([&] {
      store_->publish({.anything = false, .looked_at = replaceable_output_});
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
