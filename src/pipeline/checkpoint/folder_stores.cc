#include <unistd.h>

#include "src/io/file/atomic_file.h"
#include "src/io/store/folder_writer.h"
#include "src/io/store/zarr_writer.h"
#include "src/pipeline/checkpoint/part_store.h"

namespace millrace {
namespace {

// A folder that becomes the output.
class FolderStore : public PartStore {
 public:
  FolderStore(const DatasetSpec& spec, Parts parts, RunFolder& folder) : spec_(spec), parts_(parts), folder_(folder) {}

  Outcome<Attributes> made_of(const std::string& output) const override {
    return attributes_in_json(output + "/run.json");
  }
  void tidy() override {
    for (const char* name : kOnlyBefore) leave_out(name);
  }
  bool keeps_folder() const override { return true; }
  void begin(RunFolder::Hold) override {}
  bool has(std::uint64_t k) override { return named(k); }
  bool named(std::uint64_t k) const override {
    return ::access(FolderPart::mark(folder_.path(), spec_, k).c_str(), F_OK) == 0 ||
           ::access(folder_.path(kJoined).c_str(), F_OK) == 0;
  }
  std::unique_ptr<PartWriter> open(std::uint64_t k) override {
    return std::make_unique<FolderPart>(folder_.path(), spec_, parts_, k);
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_folder_part(from, folder_.path(), spec_, parts_, k);
  }
  void assemble(const std::function<void()>& go_on) override {
    if (::access(folder_.path(kJoined).c_str(), F_OK) != 0) {
      join_folder_parts(folder_.path(), spec_, parts_, go_on);
      write_file(folder_.path(kJoined), "");
    }
    tidy_folder_parts(folder_.path(), spec_, parts_);
  }
  void publish(bool) override {
    folder_.publish();
    for (const char* name : kOnlyBefore) ::unlink(folder_.path(name).c_str());
  }

 protected:
  // All parts were put together: what told of each is gone.
  static constexpr const char* kJoined = "parts.joined";
  static constexpr std::array<const char*, 3> kOnlyBefore = {kJoined, kPartsFile, RunFolder::kLock};
  void leave_out(const char* name) const { ::unlink((folder_.output() + "/" + name).c_str()); }

  const DatasetSpec& spec_;
  const Parts parts_;
  RunFolder& folder_;
};

class ZarrStore : public FolderStore {
 public:
  using FolderStore::FolderStore;
  // Readers of Zarr know no run.json: the group's own attributes say the same.
  Outcome<Attributes> made_of(const std::string& output) const override {
    return attributes_in_json(output + "/zarr.json", "attributes");
  }
  void tidy() override {
    FolderStore::tidy();
    leave_out("run.json");
  }
  void begin(RunFolder::Hold hold) override {
    if (hold == RunFolder::Hold::alone) write_zarr_metadata(folder_.path(), spec_, each());
  }
  bool named(std::uint64_t k) const override {
    return ::access(zarr_part_path(folder_.path(), spec_, k).c_str(), F_OK) == 0;
  }
  std::unique_ptr<PartWriter> open(std::uint64_t k) override {
    return std::make_unique<ZarrPart>(folder_.path(), spec_, each(), k);
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_zarr_part(from, folder_.path(), spec_, k);
  }
  void assemble(const std::function<void()>&) override {}
  void publish(bool over) override {
    FolderStore::publish(over);
    ::unlink(folder_.path("run.json").c_str());
  }

 private:
  // A part has room for no more rows than there are.
  std::uint64_t each() const { return std::min(parts_.each, parts_.rows); }
};

}  // namespace

std::unique_ptr<PartStore> make_folder_store(StoreKind kind, const DatasetSpec& spec, Parts parts, RunFolder& folder) {
  if (kind == StoreKind::zarr) return std::make_unique<ZarrStore>(spec, parts, folder);
  return std::make_unique<FolderStore>(spec, parts, folder);
}

}  // namespace millrace
