// Input: an output's name, what the dataset under it is, and what it is made of.
// Output: the output, whole; and until then finished parts beside it, which a later run goes on with.
// Never: goes on with what other inputs or options made. Knows no job.
//
// OUTPUT.shards/ holds run.json, which says what the parts are made of, parts.json, which says what they are parts of,
// runs.json, which says how many runs share them, and the parts; beside each a K.made.json, which says who made it and
// of which bytes it is: whoever goes on with a part hashes it first. A run that makes all that is
// missing keeps others out; runs that share the parts among them (Share) claim each before they make it. The last of
// them puts the output together.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/pipeline/checkpoint/part_store.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace {

struct CheckpointSpec {
  std::string output;
  StoreKind store = StoreKind::folder;
  DatasetSpec dataset;
  std::uint64_t each = 1;  // rows of a part
  std::string mark;        // an attribute that every output of the job has
  Share share;
  // A hash of inode and change time of the files behind rows [begin, end); 0 where that is not known.
  std::function<std::uint64_t(std::uint64_t begin, std::uint64_t end)> input_state{};
  // Asked now and then while parts of earlier runs are looked at; may throw.
  std::function<void()> go_on = [] {};
};

class Checkpoint {
 public:
  // Failure(conflict) when the output, or parts of it, were made of other things, or another run is at it.
  explicit Checkpoint(CheckpointSpec spec);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // The output is there, whole, and made of the same.
  bool finished() const { return finished_; }
  const Parts& parts() const { return parts_; }

  // What this run does with a part: makes it, or takes what another has made.
  struct Task {
    std::uint64_t part = 0;
    bool taken = false;
  };
  // In order of number; nothing behind the last. On one thread at a time, which need not be the one that writes.
  std::optional<Task> next();
  // Tasks are done in their order: a part that is taken is taken at once; else it is filled, with blocks of rows, and
  // ended. It is synced and gets its name while the next one is written.
  void take(std::uint64_t k);
  void append(std::uint64_t k, const RowBlock& block);
  void end(std::uint64_t k);
  // What is missing, from the folder of parts of a run on another disk. Failure(conflict) where that made something
  // else, or is still at it.
  void import(const std::string& folder, const std::function<void()>& go_on);
  // Parts that no run has made, when this one began or since import().
  std::vector<std::uint64_t> not_made() const;
  // All parts that were ended have their names.
  void wait();

  // What the output has beside its parts, and then its name, by which all of it is on the disk. False where other runs
  // are still at their parts, or have not made them: one of them does it.
  bool publish(const std::function<void()>& go_on);
  // Parts that are not there, once publish() has said no.
  const std::vector<std::uint64_t>& missing() const { return missing_; }
  // How long publish() took, after and before all that it wrote was handed to the disk.
  double joining_seconds() const { return joining_seconds_; }
  double syncing_seconds() const { return syncing_seconds_; }
  std::uint64_t output_bytes() const;

 private:
  void check_output();
  void check_folder();
  bool is_whole(std::uint64_t k) const;
  bool is_made_since(std::uint64_t k);
  void refuse_if_cut() const;
  void record(std::uint64_t k, std::span<const FileDigest> files) const;
  std::uint64_t inputs_of(std::uint64_t k) const;
  bool is_as_checked(std::uint64_t k) const;
  void drop_damaged(std::uint64_t k) const;
  void check_import(std::uint64_t k, const RunFolder& other, const std::function<void()>& go_on);
  void find_missing(const std::function<bool(std::uint64_t)>& is_there);
  void check_run_file();
  void write_parts_file() const;
  RunFolder::Hold hold() const { return spec_.share ? RunFolder::Hold::shared : RunFolder::Hold::alone; }

  const CheckpointSpec spec_;
  RunFolder folder_;
  const Parts parts_;
  const std::unique_ptr<PartStore> store_;
  std::optional<FileState> replaceable_output_;  // state of an existing output with the same provenance
  bool finished_ = false;                        // true when that output is complete
  std::vector<bool> there_, damaged_;            // parts of earlier runs: whole; under their names and not whole
  std::vector<bool> checked_;                    // parts whose bytes this run has written or hashed
  std::map<std::uint64_t, std::vector<FileDigest>> written_files_;
  std::uint64_t rows_ = 0;  // appended to the part that is open
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> claimed_;  // by other runs, when their turn came
  std::vector<std::uint64_t> missing_;
  std::optional<std::uint64_t> opened_;
  std::unique_ptr<PartWriter> writer_, written_;
  std::future<void> committing_;
  double joining_seconds_ = 0, syncing_seconds_ = 0;
};

}  // namespace millrace
