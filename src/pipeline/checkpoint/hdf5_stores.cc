#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "src/io/file/atomic_file.h"
#include "src/io/store/hdf5_reader.h"
#include "src/io/store/hdf5_writer.h"
#include "src/io/store/import_shard.h"
#include "src/io/store/shard_log.h"
#include "src/pipeline/checkpoint/shard_record.h"
#include "src/pipeline/checkpoint/shard_store.h"

namespace millrace {
namespace {

// Base of both HDF5 stores: the output is written from the first row on, and gets its name in the end.
class Hdf5Store : public ShardStore {
 public:
  Hdf5Store(const DatasetSpec& spec, ShardLayout parts, RunFolder& folder)
      : folder_(folder), spec_(spec), parts_(parts) {}

  Outcome<Attributes> provenance(const std::string& output) const override {
    return hdf5::attributes_of(reader_, output);
  }
  void publish(const OverwritePolicy& replaces) override {
    store_->commit();
    folder_.publish(kWhole, replaces);
    // The replaced file has this name in the folder now.
    if (keeps_folder()) ::unlink(whole().c_str());
    // The folder is removed as a whole, or kept without the files that only say how it was made.
    if (!keeps_folder()) return;
    remove_records();
    folder_.remove_lock();
  }

 protected:
  static constexpr const char* kWhole = "whole.h5";
  std::string whole() const { return folder_.path(kWhole); }
  // Removes the files that only say how shards were made.
  void remove_records() const {
    for (const char* file : {kShardsFile, kRunsFile}) ::unlink(folder_.path(file).c_str());
    for (std::uint64_t k = 0; k < parts_.count(); ++k) ::unlink(folder_.path(shard_record_name(k)).c_str());
  }
  static ShardBytes file_of(const std::string& folder, const std::string& name) {
    const std::string path = join_path(folder, name);
    return ::access(path.c_str(), F_OK) == 0 ? ShardBytes{{path}} : ShardBytes{};
  }
  std::string row_range_text(std::uint64_t k) const { return fmt::format("{} to {}", parts_.begin(k), parts_.end(k)); }

  RunFolder& folder_;
  const DatasetSpec& spec_;
  const ShardLayout parts_;
  std::unique_ptr<Hdf5Writer> store_;
  // Reader for files that somebody else may have written. Its helper is started for the first of them.
  mutable hdf5::DatasetReader reader_;
};

// Store of one file. An HDF5 file is unusable before it is closed, but the rows in it are there. Logs record for a
// later run which rows, shard by shard; the last shard has none, because nothing is made after it. That run writes the
// file anew and takes compressed rows from the old one. If several runs make shards, each run leaves the rows in a log
// per shard.
class OneFileStore : public Hdf5Store {
 public:
  using Hdf5Store::Hdf5Store;

  bool keeps_folder() const override { return false; }
  void begin(RunFolder::Hold hold) override {
    hold_ = hold;
    if (hold == RunFolder::Hold::shared) return;
    // A run that was killed while it took rows from a previous file has left more than one.
    std::size_t n = 0;
    for (; ::access(previous_file(n).c_str(), F_OK) == 0; ++n) previous_files_.push_back(previous_file(n));
    for (const std::string& left : {whole(), whole() + ".part"}) {
      if (::access(left.c_str(), F_OK) != 0) continue;
      rename_file(left, previous_file(n));
      previous_files_.push_back(previous_file(n++));
    }
    for (const std::string& file : previous_files_) finders_.push_back(std::make_unique<ChunkFinder>(file));
  }
  bool is_committed(std::uint64_t k) const override { return ::access(rows(k).c_str(), F_OK) == 0; }
  // A shard that is damaged, or is another dataset's, is made again.
  bool has_shard(std::uint64_t k) override {
    if (open_log(k, ShardLog::Chunks::whole)) return true;
    const auto log = open_log(k, ShardLog::Chunks::digests_only);
    if (!log || log->chunks().size() != log->rows()) return false;
    for (const auto& finder : finders_) {
      if (auto found = finder->find(log->front(), log->chunks())) {
        found_[k] = {std::move(*found), finder.get()};
        return true;
      }
    }
    return false;
  }
  void take(std::uint64_t k) override {
    auto log = open_log(k, ShardLog::Chunks::whole);
    const auto found = found_.find(k);
    if (!log && found != found_.end()) log = open_log(k, ShardLog::Chunks::digests_only);
    RowBlock block;
    std::uint64_t row = 0;
    while (log && log->next(block)) {
      if (found != found_.end() && !log->chunks().empty() && !fill(block, *log, found->second, row)) break;
      whole_file().append(block);
      row += block.rows;
    }
    if (row != parts_.end(k) - parts_.begin(k)) {
      throw Failure(ErrorCode::conflict, "its unfinished work was changed during this run", folder_.name(),
                    "remove it and run the same command again");
    }
    found_.erase(k);
    if (found_.empty()) remove_previous_files();
  }
  std::unique_ptr<ShardWriter> open(std::uint64_t k) override {
    if (hold_ == RunFolder::Hold::shared) {
      return std::make_unique<ShardLog>(rows(k), row_range_text(k), spec_, ShardLog::Chunks::whole);
    }
    if (found_.empty()) remove_previous_files();
    auto log = k + 1 == parts_.count() ? nullptr
                                       : std::make_unique<ShardLog>(digests_only(k), row_range_text(k), spec_,
                                                                    ShardLog::Chunks::digests_only);
    return std::make_unique<Writer>(whole_file(), whole() + ".part", std::move(log));
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_file(from, fmt::format("{}.rows", k), folder_.path(), {folder_.path()});
  }
  ShardBytes bytes_of(std::uint64_t k, const std::string& folder) const override {
    return file_of(folder, fmt::format("{}.rows", k));
  }
  bool is_reproducible() const override { return false; }
  void assemble(const std::function<void()>& check_cancelled) override { whole_file().finish(check_cancelled); }

 private:
  // Offsets of the chunks of a shard, and the file that holds them.
  struct Found {
    std::vector<std::uint64_t> at;
    const ChunkFinder* finder = nullptr;
  };

  class Writer : public ShardWriter {
   public:
    Writer(Hdf5Writer& store, std::string file, std::unique_ptr<ShardLog> log)
        : store_(store), file_(std::move(file)), log_(std::move(log)) {}
    void append(const RowBlock& block) override {
      store_.append(block);
      if (log_) log_->append(block);
    }
    void finish() override {
      if (log_) log_->finish();
    }
    // The rows are synced first: a log must not describe rows that a power cut has removed.
    void commit() override {
      if (!log_) return;
      sync_file(file_);
      log_->commit();
    }

   private:
    Hdf5Writer& store_;
    const std::string file_;
    std::unique_ptr<ShardLog> log_;
  };

  Hdf5Writer& whole_file() {
    if (!store_) {
      store_ = std::make_unique<Hdf5Writer>(whole(), spec_);
      // The file is kept however this run ends: the next run takes rows from it.
      store_->keep_temporary_file();
    }
    return *store_;
  }
  std::optional<ShardLogReader> open_log(std::uint64_t k, ShardLog::Chunks chunks) const {
    auto log = ShardLogReader::open(chunks == ShardLog::Chunks::whole ? rows(k) : digests_only(k), row_range_text(k),
                                    spec_, chunks);
    if (log && log->rows() != parts_.end(k) - parts_.begin(k)) return std::nullopt;
    return log;
  }
  // Fills in the compressed rows of a block, from the file that holds them.
  bool fill(RowBlock& block, const ShardLogReader& log, const Found& found, std::uint64_t row) const {
    for (std::size_t i = 0; i < spec_.arrays.size(); ++i) {
      if (spec_.arrays[i].rows != ArraySpec::Rows::compressed) continue;
      ArrayRows& chunks = block.arrays[i];
      if (block.rows > found.at.size() - row) return false;
      for (std::uint64_t at = row; at < row + block.rows; ++at) {
        const std::size_t begin = chunks.bytes.size();
        chunks.bytes.resize(begin + log.chunks()[at].bytes);
        if (!found.finder->read(found.at[at], std::span(chunks.bytes).subspan(begin))) return false;
        chunks.lengths.push_back(static_cast<std::uint32_t>(log.chunks()[at].bytes));
      }
    }
    return true;
  }
  // Removes previous files: all useful rows in them were taken.
  void remove_previous_files() {
    if (previous_files_.empty()) return;
    if (store_) sync_file(whole() + ".part");
    finders_.clear();
    for (const std::string& file : previous_files_) ::unlink(file.c_str());
    previous_files_.clear();
  }

  std::string digests_only(std::uint64_t k) const { return folder_.path(fmt::format("{}.log", k)); }
  std::string rows(std::uint64_t k) const { return folder_.path(fmt::format("{}.rows", k)); }
  std::string previous_file(std::size_t n) const { return folder_.path(fmt::format("earlier{}.h5.part", n)); }

  RunFolder::Hold hold_ = RunFolder::Hold::alone;
  std::vector<std::string> previous_files_;
  std::vector<std::unique_ptr<ChunkFinder>> finders_;
  std::map<std::uint64_t, Found> found_;
};

// Store of shards that stay where they are, and of a file that maps them.
class VirtualStore : public Hdf5Store {
 public:
  using Hdf5Store::Hdf5Store;

  bool keeps_folder() const override { return true; }
  bool is_output_complete() const override {
    for (std::uint64_t k = 0; k < parts_.count(); ++k) {
      if (!is_there(k)) return false;
    }
    return true;
  }
  void remove_leftovers() override {
    remove_records();
    ::unlink(folder_.path(RunFolder::kLock).c_str());
  }
  void begin(RunFolder::Hold) override {}
  bool is_committed(std::uint64_t k) const override { return ::access(path(k).c_str(), F_OK) == 0; }
  bool has_shard(std::uint64_t k) override { return is_there(k); }
  std::unique_ptr<ShardWriter> open(std::uint64_t k) override {
    return std::make_unique<Hdf5Writer>(path(k), spec_of(k), Hdf5Writer::Shard{parts_.each});
  }
  bool import(std::uint64_t k, const std::string& from) override {
    return import_file(from, fmt::format("{}.h5", k), folder_.path(), {folder_.path()});
  }
  ShardBytes bytes_of(std::uint64_t k, const std::string& folder) const override {
    return file_of(folder, fmt::format("{}.h5", k));
  }
  void assemble(const std::function<void()>& check_cancelled) override {
    const std::string name = folder_.name().substr(folder_.name().find_last_of('/') + 1);
    store_ = std::make_unique<Hdf5Writer>(whole(), spec_, Hdf5Writer::Mapped{name, parts_.each});
    for (std::uint64_t k = 0; k < parts_.count(); ++k) {
      check_cancelled();
      store_->append_rest(reader_, path(k), parts_.end(k) - parts_.begin(k));
    }
    store_->finish(check_cancelled);
  }

 private:
  std::string path(std::uint64_t k) const { return folder_.path(fmt::format("{}.h5", k)); }
  bool is_there(std::uint64_t k) const {
    if (!is_committed(k)) return false;
    const auto there = hdf5::attributes_of(reader_, path(k));
    return there && describe_differences(*there, spec_of(k).attributes).empty();
  }
  // Returns the description that each shard contains.
  DatasetSpec spec_of(std::uint64_t k) const {
    DatasetSpec spec = spec_;
    spec.rows = parts_.end(k) - parts_.begin(k);
    spec.attributes.emplace_back(spec_.unit, row_range_text(k));
    return spec;
  }
};

}  // namespace

std::unique_ptr<ShardStore> make_shard_store(StoreKind kind, const DatasetSpec& spec, ShardLayout parts,
                                             RunFolder& folder) {
  if (kind == StoreKind::hdf5) return std::make_unique<OneFileStore>(spec, parts, folder);
  if (kind == StoreKind::hdf5_virtual) return std::make_unique<VirtualStore>(spec, parts, folder);
  return make_folder_store(kind, spec, parts, folder);
}

}  // namespace millrace
