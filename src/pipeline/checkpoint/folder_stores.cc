#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/io/file/atomic_file.h"
#include "src/io/store/folder_writer.h"
#include "src/io/store/import_shard.h"
#include "src/io/store/zarr_writer.h"
#include "src/pipeline/checkpoint/shard_record.h"
#include "src/pipeline/checkpoint/shard_store.h"

namespace millrace {
namespace {

// Store whose folder becomes the output. The shards are made in a folder of their own, which contains nothing else:
// whole.part until all are there, then whole.
class FolderStore : public ShardStore {
 public:
  FolderStore(const DatasetSpec& spec, ShardLayout parts, RunFolder& folder)
      : spec_(spec), parts_(parts), folder_(folder) {}

  Outcome<Attributes> provenance(const std::string& output) const override {
    return read_json_attributes(output + "/run.json");
  }
  bool keeps_folder() const override { return false; }
  void begin(RunFolder::Hold) override {
    if (!is_whole() && ::mkdir(rows().c_str(), 0755) != 0 && errno != EEXIST) {
      throw Failure(system_error("it cannot be created", rows(), errno));
    }
  }
  bool has_shard(std::uint64_t k) override { return is_committed(k); }
  bool is_committed(std::uint64_t k) const override {
    return is_whole() || FolderShardWriter::is_finished(rows(), spec_, k);
  }
  std::unique_ptr<ShardWriter> open(std::uint64_t k) override {
    return std::make_unique<FolderShardWriter>(rows(), spec_, parts_, k);
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_folder_shard(join_path(from, kRows), rows(), spec_, parts_, k);
  }
  ShardBytes bytes_of(std::uint64_t k, const std::string& folder) const override {
    return folder_shard_bytes(join_path(folder, kRows), spec_, parts_, k);
  }
  void assemble(const std::function<void()>& check_cancelled) override {
    if (!is_whole()) {
      join(check_cancelled);
      sync_folder(rows());
      rename_file(rows(), whole());
    }
    // The cleanup comes after the rename: a run that ends between them would otherwise find shards without their marks.
    remove_shard_marks();
    sync_folder(whole());
  }
  void publish(const OverwritePolicy& replaces) override { folder_.publish(kWhole, replaces); }

 protected:
  virtual void join(const std::function<void()>& check_cancelled) {
    std::vector<FileDigest> checksums = merge_folder_shards(rows(), spec_, parts_, check_cancelled);
    add_recorded(checksums);
    const auto provenance = read_json_attributes(folder_.path(RunFolder::kRunFile)).or_throw();
    AtomicFile run(join_path(rows(), RunFolder::kRunFile), AtomicFile::ShardOptions{folder_.path()});
    run.write(json_of(provenance, checksums));
    run.commit();
  }
  // Adds the digests in the records of all shards, for files that the output keeps. All shards are checked by now.
  void add_recorded(std::vector<FileDigest>& out) const {
    for (std::uint64_t k = 0; k < parts_.count(); ++k) {
      const auto record = read_shard_record(folder_.path(shard_record_name(k)), k);
      if (!record)
        throw Failure(ErrorCode::conflict, "the record of a shard is missing", folder_.path(shard_record_name(k)));
      for (const FileDigest& file : record->files)
        if (is_kept_in_output(spec_, k, file.name)) out.push_back(file);
    }
  }
  virtual void remove_shard_marks() { remove_merged_shards(whole(), spec_, parts_); }
  static constexpr const char* kRows = "whole.part";
  std::string rows() const { return folder_.path(kRows); }
  bool is_whole() const { return ::access(whole().c_str(), F_OK) == 0; }

  const DatasetSpec& spec_;
  const ShardLayout parts_;

 private:
  static constexpr const char* kWhole = "whole";
  std::string whole() const { return folder_.path(kWhole); }

  RunFolder& folder_;
};

class ZarrStore : public FolderStore {
 public:
  using FolderStore::FolderStore;
  // Readers of Zarr do not know run.json: the group's own attributes say the same.
  Outcome<Attributes> provenance(const std::string& output) const override {
    return read_json_attributes(output + "/zarr.json", "attributes");
  }
  bool is_committed(std::uint64_t k) const override {
    return is_whole() || ::access(zarr_shard_path(rows(), spec_, k).c_str(), F_OK) == 0;
  }
  std::unique_ptr<ShardWriter> open(std::uint64_t k) override {
    return std::make_unique<ZarrShardWriter>(rows(), spec_, each(), k);
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_zarr_shard(join_path(from, kRows), rows(), spec_, k);
  }
  ShardBytes bytes_of(std::uint64_t k, const std::string& folder) const override {
    return zarr_shard_bytes(join_path(folder, kRows), spec_, k);
  }

 protected:
  void join(const std::function<void()>&) override {
    std::vector<FileDigest> checksums;
    add_recorded(checksums);
    write_zarr_metadata(rows(), spec_, each(), checksums);
  }
  void remove_shard_marks() override {}

 private:
  // A shard has room for no more rows than there are.
  std::uint64_t each() const { return std::min(parts_.each, parts_.rows); }
};

}  // namespace

std::unique_ptr<ShardStore> make_folder_store(StoreKind kind, const DatasetSpec& spec, ShardLayout parts,
                                              RunFolder& folder) {
  if (kind == StoreKind::zarr) return std::make_unique<ZarrStore>(spec, parts, folder);
  return std::make_unique<FolderStore>(spec, parts, folder);
}

}  // namespace millrace
