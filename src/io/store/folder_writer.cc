#include "src/io/store/folder_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/positional_io.h"
#include "src/io/file/running_hash.h"
#include "src/io/file/xxh3.h"
#include "src/io/store/import_shard.h"
#include "src/io/store/pair_lists.h"
#include "src/io/store/tar.h"
#include "src/io/tensor/npy.h"

namespace millrace {

// Writer of one array of a shard.
class FolderShardWriter::Array {
 public:
  Array() = default;
  virtual ~Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  virtual void append(const ArrayRows& rows) = 0;
  virtual void finish() {}
  virtual void commit() = 0;
  virtual void add_digests(std::vector<FileDigest>& out) const = 0;
};

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Failure(system_error(what, escape_unprintable(path), errno));
}

bool is_rows(const ArraySpec& array) { return array.extension == "npy" || array.extension == "dat"; }
bool is_lines(const ArraySpec& array) { return array.extension == "csv" || array.extension == "jsonl"; }
bool is_pairs(const ArraySpec& array) { return array.extension == "pairs"; }
// Returns true for arrays that have a file per shard; these files are merged into one in the end.
bool is_joined(const ArraySpec& array) { return is_lines(array) || is_pairs(array); }

// Returns the name in the folder: "index.row" for "index/row".
std::string name_in_folder(const ArraySpec& array) {
  std::string out = array.name;
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}
std::string file_of(const std::string& folder, const ArraySpec& array) {
  return join_path(folder, name_in_folder(array) + "." + array.extension);
}
std::string shard_file_name(const ArraySpec& array, std::uint64_t shard) {
  return fmt::format("{:05}.{}.{}", shard, name_in_folder(array), array.extension);
}
std::string shard_file_path(const std::string& folder, const ArraySpec& array, std::uint64_t shard) {
  return join_path(folder, shard_file_name(array, shard));
}

std::string header_of_rows(const ArraySpec& array, const DatasetSpec& spec) {
  return array.extension == "npy" ? npy::header_text({{"", array.type}}, prepend_count(spec.rows, array.shape)) : "";
}

// Rows of a shard at their offset in a file that all shards share.
class SharedRows : public FolderShardWriter::Array {
 public:
  SharedRows(std::string path, const ArraySpec& array, const DatasetSpec& spec, std::uint64_t first)
      : path_(std::move(path)) {
    const std::string header = header_of_rows(array, spec);
    at_ = first_ = header.size() + first * array.row_bytes();
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file_ || !write_at(file_.get(), 0, std::as_bytes(std::span(header)))) fail("it cannot be written", path_);
  }
  void append(const ArrayRows& rows) override {
    // Small blocks are collected; large ones are written as they are.
    if (pending_.size() + rows.bytes.size() < kTogether) {
      pending_.insert(pending_.end(), rows.bytes.begin(), rows.bytes.end());
      return;
    }
    write(pending_);
    pending_.clear();
    write(rows.bytes);
  }
  void finish() override {
    write(pending_);
    pending_.clear();
  }
  // Copies the same rows from another such file.
  void import(const std::string& path, std::uint64_t bytes) {
    const Descriptor from(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!from) fail("it cannot be read", path);
    for (std::uint64_t done = 0; done < bytes;) {
      pending_.resize(std::min<std::uint64_t>(bytes - done, kTogether));
      if (read_at(from.get(), at_, std::as_writable_bytes(std::span(pending_))) != pending_.size()) {
        throw Failure(ErrorCode::bad_data, "it is too short for its rows", path);
      }
      done += pending_.size();
      write(pending_);
    }
    pending_.clear();
  }
  void commit() override {
    if (::fdatasync(file_.get()) != 0) fail("it cannot be written to the disk", path_);
  }
  void add_digests(std::vector<FileDigest>& out) const override {
    out.push_back({std::string(file_name(path_)), bytes_, hash_.digest(), first_});
  }

 private:
  static constexpr std::size_t kTogether = 1 << 16;
  void write(const std::vector<std::uint8_t>& bytes) {
    if (!write_at(file_.get(), at_, std::as_bytes(std::span(bytes)))) fail("it cannot be written", path_);
    at_ += bytes.size();
    bytes_ += bytes.size();
    hash_.update(std::as_bytes(std::span(bytes)));
  }
  const std::string path_;
  std::uint64_t first_ = 0, at_ = 0, bytes_ = 0;
  RunningHash hash_;
  Descriptor file_;
  std::vector<std::uint8_t> pending_;
};

// Rows one after the other in a file that belongs to this shard only.
class ShardOutputFile : public FolderShardWriter::Array {
 public:
  ShardOutputFile(std::string path, const AtomicFile::ShardOptions& shard, std::string end)
      : file_(std::move(path), shard), end_(std::move(end)) {}
  void append(const ArrayRows& rows) override { file_.write(std::as_bytes(std::span(rows.bytes))); }
  void finish() override { file_.write(end_); }
  void commit() override { file_.commit(); }
  void add_digests(std::vector<FileDigest>& out) const override { out.push_back(file_.digest()); }

 private:
  AtomicFile file_;
  const std::string end_;
};

class ShardPairs : public FolderShardWriter::Array {
 public:
  explicit ShardPairs(std::string path) : list_(std::move(path)) {}
  void append(const ArrayRows& rows) override { list_.append(std::as_bytes(std::span(rows.bytes))); }
  void finish() override { list_.finish(); }
  void commit() override { list_.commit(); }
  void add_digests(std::vector<FileDigest>& out) const override { out.push_back(list_.digest()); }

 private:
  PairListWriter list_;
};

class Files : public FolderShardWriter::Array {
 public:
  Files(std::string folder, const std::string& work_folder, std::string extension, std::uint64_t first)
      : folder_(std::move(folder)),
        part_(join_path(work_folder, unique_temporary_name())),
        extension_(std::move(extension)),
        at_(first) {
    if (::mkdir(part_.c_str(), 0777) != 0) fail("it cannot be created", part_);
  }
  ~Files() override {
    std::error_code error;
    if (!committed_) fs::remove_all(part_, error);
  }
  void append(const ArrayRows& rows) override {
    rows.each([&](std::size_t, std::span<const std::uint8_t> bytes) {
      const std::string path = fmt::format("{}/{:08}.{}", part_, at_++, extension_);
      Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
      if (!file) fail("it cannot be created", path);
      const bool written = write_at(file.get(), 0, std::as_bytes(bytes));
      digests_.push_back({std::string(file_name(path)), bytes.size(), XXH3_64bits(bytes.data(), bytes.size())});
      const int number = errno;
      if (::close(file.release()) != 0 || !written) {
        errno = written ? errno : number;
        fail("it cannot be written", path);
      }
    });
  }
  void commit() override {
    // There are thousands of files: one sync of the file system is faster than one for each.
    const Descriptor folder(::open(part_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || ::syncfs(folder.get()) != 0) fail("it cannot be written to the disk", part_);
    publish_folder(part_, folder_);
    committed_ = true;
  }
  void add_digests(std::vector<FileDigest>& out) const override {
    // Sorted by name, as a folder is listed: above 99,999,999 the numbers have more digits.
    std::vector<FileDigest> sorted = digests_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    out.push_back(digest_of_folder(std::string(file_name(folder_)), sorted));
  }

 private:
  const std::string folder_, part_, extension_;
  std::uint64_t at_;
  std::vector<FileDigest> digests_;
  bool committed_ = false;
};

std::unique_ptr<FolderShardWriter::Array> open(const std::string& folder, const ArraySpec& array,
                                               const DatasetSpec& spec, ShardLayout layout, std::uint64_t shard) {
  const std::string work_folder = folder_of(folder);
  if (is_rows(array)) {
    return std::make_unique<SharedRows>(file_of(folder, array), array, spec, layout.begin(shard));
  }
  if (is_lines(array))
    return std::make_unique<ShardOutputFile>(shard_file_path(folder, array, shard),
                                             AtomicFile::ShardOptions{work_folder, true}, "");
  if (is_pairs(array)) return std::make_unique<ShardPairs>(shard_file_path(folder, array, shard));
  const std::string own = join_path(folder, fmt::format("{:05}", shard));
  if (array.extension == "tar")
    return std::make_unique<ShardOutputFile>(own + ".tar", AtomicFile::ShardOptions{work_folder}, tar_end());
  return std::make_unique<Files>(own, work_folder, array.extension, layout.begin(shard));
}

// Returns true if the array's own file or folder marks the shard as finished; otherwise an empty file does.
bool marks_itself(const ArraySpec& array) { return !is_rows(array) && !is_joined(array); }

FileDigest join_pairs(const std::string& folder, const ArraySpec& array, ShardLayout layout,
                      const std::function<void()>& check_cancelled) {
  std::vector<std::string> files;
  for (std::uint64_t k = 0; k < layout.count(); ++k) files.push_back(shard_file_path(folder, array, k));
  return merge_pair_lists(files, join_path(folder, name_in_folder(array) + ".npy"), check_cancelled);
}

}  // namespace

std::string FolderShardWriter::mark_path(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard) {
  const ArraySpec& first = spec.arrays.front();
  const char* end = !marks_itself(first) ? ".done" : first.extension == "tar" ? ".tar" : "";
  return join_path(folder, fmt::format("{:05}{}", shard, end));
}

bool FolderShardWriter::is_finished(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard) {
  return ::access(mark_path(folder, spec, shard).c_str(), F_OK) == 0 &&
         std::all_of(spec.arrays.begin(), spec.arrays.end(), [&](const ArraySpec& array) {
           return !is_pairs(array) || is_pair_list(shard_file_path(folder, array, shard));
         });
}

FolderShardWriter::FolderShardWriter(const std::string& folder, const DatasetSpec& spec, ShardLayout layout,
                                     std::uint64_t shard)
    : mark_(marks_itself(spec.arrays.front()) ? "" : mark_path(folder, spec, shard)), work_folder_(folder_of(folder)) {
  for (const ArraySpec& array : spec.arrays) arrays_.push_back(open(folder, array, spec, layout, shard));
}
FolderShardWriter::~FolderShardWriter() = default;

void FolderShardWriter::append(const RowBlock& block) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i]->append(block.arrays[i]);
}

void FolderShardWriter::finish() {
  for (const auto& array : arrays_) array->finish();
}

void FolderShardWriter::commit() {
  // The first array is committed last: if it is there, all are.
  for (std::size_t i = arrays_.size(); i-- > 0;) arrays_[i]->commit();
  if (!mark_.empty()) AtomicFile(mark_, AtomicFile::ShardOptions{work_folder_, true}).commit();
}

std::vector<FileDigest> FolderShardWriter::digests() const {
  std::vector<FileDigest> out;
  for (const auto& array : arrays_) array->add_digests(out);
  return out;
}

ShardBytes folder_shard_bytes(const std::string& folder, const DatasetSpec& spec, ShardLayout layout,
                              std::uint64_t shard) {
  ShardBytes out;
  if (!FolderShardWriter::is_finished(folder, spec, shard)) return out;
  for (const ArraySpec& array : spec.arrays) {
    if (is_rows(array)) {
      out.push_back({file_of(folder, array),
                     header_of_rows(array, spec).size() + layout.begin(shard) * array.row_bytes(),
                     (layout.end(shard) - layout.begin(shard)) * array.row_bytes()});
    } else if (is_joined(array)) {
      out.push_back({shard_file_path(folder, array, shard)});
    } else if (array.extension == "tar") {
      out.push_back({join_path(folder, fmt::format("{:05}.tar", shard))});
    } else {
      out.push_back({.path = join_path(folder, fmt::format("{:05}", shard)), .is_folder = true});
    }
  }
  return out;
}

bool import_folder_shard(const std::string& from, const std::string& to, const DatasetSpec& spec, ShardLayout layout,
                         std::uint64_t shard) {
  if (!FolderShardWriter::is_finished(from, spec, shard)) return false;
  bool all = true;
  // The first array is imported last, as in commit().
  for (std::size_t i = spec.arrays.size(); i-- > 0 && all;) {
    const ArraySpec& array = spec.arrays[i];
    if (is_rows(array)) {
      SharedRows rows(file_of(to, array), array, spec, layout.begin(shard));
      rows.import(file_of(from, array), (layout.end(shard) - layout.begin(shard)) * array.row_bytes());
      rows.commit();
    } else if (is_joined(array)) {
      all = import_file(from, shard_file_name(array, shard), to, {folder_of(to), true});
    } else if (array.extension == "tar") {
      all = import_file(from, fmt::format("{:05}.tar", shard), to, {folder_of(to)});
    } else {
      all = import_folder(from, fmt::format("{:05}", shard), to, folder_of(to));
    }
  }
  if (all && !marks_itself(spec.arrays.front())) {
    AtomicFile(FolderShardWriter::mark_path(to, spec, shard), AtomicFile::ShardOptions{folder_of(to), true}).commit();
  }
  return all;
}

std::vector<FileDigest> merge_folder_shards(const std::string& folder, const DatasetSpec& spec, ShardLayout layout,
                                            const std::function<void()>& check_cancelled) {
  std::vector<FileDigest> out;
  for (const ArraySpec& array : spec.arrays) {
    if (const std::string header = header_of_rows(array, spec); !header.empty()) {
      out.push_back(
          {std::string(file_name(file_of(folder, array))), header.size(), XXH3_64bits(header.data(), header.size())});
    }
    if (is_pairs(array)) out.push_back(join_pairs(folder, array, layout, check_cancelled));
    if (!is_lines(array)) continue;
    AtomicFile whole(file_of(folder, array), AtomicFile::ShardOptions{folder_of(folder)});
    if (!array.header.empty()) whole.write(array.header + "\n");
    for (std::uint64_t k = 0; k < layout.count(); ++k) {
      auto lines = FileReader::open(shard_file_path(folder, array, k), FileReader::Hashing::off).or_throw();
      for (auto bytes = lines->next(); !bytes.empty(); bytes = lines->next()) {
        check_cancelled();
        whole.write(std::as_bytes(bytes));
      }
      if (lines->failed()) throw Failure(lines->error());
    }
    whole.commit();
    out.push_back(whole.digest());
  }
  return out;
}

bool is_kept_in_output(const DatasetSpec& spec, std::uint64_t shard, const std::string& file) {
  return std::none_of(spec.arrays.begin(), spec.arrays.end(), [&](const ArraySpec& array) {
    return is_joined(array) && shard_file_name(array, shard) == file;
  });
}

void remove_merged_shards(const std::string& folder, const DatasetSpec& spec, ShardLayout layout) {
  for (std::uint64_t k = 0; k < layout.count(); ++k) {
    for (const ArraySpec& array : spec.arrays) {
      if (is_joined(array)) ::unlink(shard_file_path(folder, array, k).c_str());
    }
    if (!marks_itself(spec.arrays.front())) ::unlink(FolderShardWriter::mark_path(folder, spec, k).c_str());
  }
}

}  // namespace millrace
