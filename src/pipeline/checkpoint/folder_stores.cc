#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/io/file/atomic_file.h"
#include "src/io/store/folder_writer.h"
#include "src/io/store/import_part.h"
#include "src/io/store/zarr_writer.h"
#include "src/pipeline/checkpoint/part_record.h"
#include "src/pipeline/checkpoint/part_store.h"

namespace millrace {
namespace {

// Store whose folder becomes the output. The shards are made in a folder of their own, which contains nothing else:
// whole.part until all are there, then whole.
class FolderStore : public PartStore {
 public:
  FolderStore(const DatasetSpec& spec, Parts parts, RunFolder& folder) : spec_(spec), parts_(parts), folder_(folder) {}

  Outcome<Attributes> made_of(const std::string& output) const override {
    return attributes_in_json(output + "/run.json");
  }
  bool keeps_folder() const override { return false; }
  void begin(RunFolder::Hold) override {
    if (!is_whole() && ::mkdir(rows().c_str(), 0755) != 0 && errno != EEXIST) {
      throw Failure(system_error("it cannot be created", rows(), errno));
    }
  }
  bool has(std::uint64_t k) override { return named(k); }
  bool named(std::uint64_t k) const override { return is_whole() || FolderPart::is_there(rows(), spec_, k); }
  std::unique_ptr<PartWriter> open(std::uint64_t k) override {
    return std::make_unique<FolderPart>(rows(), spec_, parts_, k);
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_folder_part(path_in(from, kRows), rows(), spec_, parts_, k);
  }
  PartBytes bytes_of(std::uint64_t k, const std::string& folder) const override {
    return folder_part_bytes(path_in(folder, kRows), spec_, parts_, k);
  }
  void assemble(const std::function<void()>& go_on) override {
    if (!is_whole()) {
      join(go_on);
      sync_folder(rows());
      rename_file(rows(), whole());
    }
    // The cleanup comes after the rename: a run that ends between them would otherwise find shards without their marks.
    tidy_whole();
    sync_folder(whole());
  }
  void publish(const Replaceable& replaces) override { folder_.publish(kWhole, replaces); }

 protected:
  virtual void join(const std::function<void()>& go_on) {
    std::vector<FileDigest> checksums = join_folder_parts(rows(), spec_, parts_, go_on);
    add_recorded(checksums);
    const auto made_of = attributes_in_json(folder_.path(RunFolder::kRunFile)).or_throw();
    AtomicFile run(path_in(rows(), RunFolder::kRunFile), AtomicFile::OfShard{folder_.path()});
    run.write(json_of(made_of, checksums));
    run.commit();
  }
  // Adds the digests in the records of all shards, for files that the output keeps. All shards are checked by now.
  void add_recorded(std::vector<FileDigest>& out) const {
    for (std::uint64_t k = 0; k < parts_.count(); ++k) {
      const auto record = part_record(folder_.path(part_record_name(k)), k);
      if (!record)
        throw Failure(ErrorCode::conflict, "the record of a shard has gone", folder_.path(part_record_name(k)));
      for (const FileDigest& file : record->files)
        if (stays_in_output(spec_, k, file.name)) out.push_back(file);
    }
  }
  virtual void tidy_whole() { tidy_folder_parts(whole(), spec_, parts_); }
  static constexpr const char* kRows = "whole.part";
  std::string rows() const { return folder_.path(kRows); }
  bool is_whole() const { return ::access(whole().c_str(), F_OK) == 0; }

  const DatasetSpec& spec_;
  const Parts parts_;

 private:
  static constexpr const char* kWhole = "whole";
  std::string whole() const { return folder_.path(kWhole); }

  RunFolder& folder_;
};

class ZarrStore : public FolderStore {
 public:
  using FolderStore::FolderStore;
  // Readers of Zarr do not know run.json: the group's own attributes say the same.
  Outcome<Attributes> made_of(const std::string& output) const override {
    return attributes_in_json(output + "/zarr.json", "attributes");
  }
  bool named(std::uint64_t k) const override {
    return is_whole() || ::access(zarr_part_path(rows(), spec_, k).c_str(), F_OK) == 0;
  }
  std::unique_ptr<PartWriter> open(std::uint64_t k) override {
    return std::make_unique<ZarrPart>(rows(), spec_, each(), k);
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_zarr_part(path_in(from, kRows), rows(), spec_, k);
  }
  PartBytes bytes_of(std::uint64_t k, const std::string& folder) const override {
    return zarr_part_bytes(path_in(folder, kRows), spec_, k);
  }

 protected:
  void join(const std::function<void()>&) override {
    std::vector<FileDigest> checksums;
    add_recorded(checksums);
    write_zarr_metadata(rows(), spec_, each(), checksums);
  }
  void tidy_whole() override {}

 private:
  // A shard has room for no more rows than there are.
  std::uint64_t each() const { return std::min(parts_.each, parts_.rows); }
};

}  // namespace

std::unique_ptr<PartStore> make_folder_store(StoreKind kind, const DatasetSpec& spec, Parts parts, RunFolder& folder) {
  if (kind == StoreKind::zarr) return std::make_unique<ZarrStore>(spec, parts, folder);
  return std::make_unique<FolderStore>(spec, parts, folder);
}

}  // namespace millrace
