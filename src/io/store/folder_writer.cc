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
#include "src/io/file/at_offset.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"
#include "src/io/file/running_hash.h"
#include "src/io/file/xxh3.h"
#include "src/io/store/import_part.h"
#include "src/io/store/pair_lists.h"
#include "src/io/store/tar.h"
#include "src/io/tensor/npy.h"

namespace millrace {

// Writer of one array of a shard.
class FolderPart::Array {
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
  throw Failure(system_error(what, printable(path), errno));
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
  return path_in(folder, name_in_folder(array) + "." + array.extension);
}
std::string own_name(const ArraySpec& array, std::uint64_t part) {
  return fmt::format("{:05}.{}.{}", part, name_in_folder(array), array.extension);
}
std::string own_of(const std::string& folder, const ArraySpec& array, std::uint64_t part) {
  return path_in(folder, own_name(array, part));
}

std::string header_of_rows(const ArraySpec& array, const DatasetSpec& spec) {
  return array.extension == "npy" ? npy::header_text({{"", array.type}}, with_count(spec.rows, array.shape)) : "";
}

// Rows of a shard at their offset in a file that all shards share.
class SharedRows : public FolderPart::Array {
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
        throw Failure(ErrorCode::bad_data, "it is shorter than its rows", path);
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
class OwnFile : public FolderPart::Array {
 public:
  OwnFile(std::string path, const AtomicFile::OfShard& shard, std::string end)
      : file_(std::move(path), shard), end_(std::move(end)) {}
  void append(const ArrayRows& rows) override { file_.write(std::as_bytes(std::span(rows.bytes))); }
  void finish() override { file_.write(end_); }
  void commit() override { file_.commit(); }
  void add_digests(std::vector<FileDigest>& out) const override { out.push_back(file_.digest()); }

 private:
  AtomicFile file_;
  const std::string end_;
};

class PairsOfPart : public FolderPart::Array {
 public:
  explicit PairsOfPart(std::string path) : list_(std::move(path)) {}
  void append(const ArrayRows& rows) override { list_.append(std::as_bytes(std::span(rows.bytes))); }
  void finish() override { list_.finish(); }
  void commit() override { list_.commit(); }
  void add_digests(std::vector<FileDigest>& out) const override { out.push_back(list_.digest()); }

 private:
  PairListWriter list_;
};

class Files : public FolderPart::Array {
 public:
  Files(std::string folder, const std::string& work_folder, std::string extension, std::uint64_t first)
      : folder_(std::move(folder)),
        part_(path_in(work_folder, unique_temporary_name())),
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
    put_folder_in_place(part_, folder_);
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

std::unique_ptr<FolderPart::Array> open(const std::string& folder, const ArraySpec& array, const DatasetSpec& spec,
                                        Parts parts, std::uint64_t part) {
  const std::string work_folder = folder_of(folder);
  if (is_rows(array)) {
    return std::make_unique<SharedRows>(file_of(folder, array), array, spec, parts.begin(part));
  }
  if (is_lines(array))
    return std::make_unique<OwnFile>(own_of(folder, array, part), AtomicFile::OfShard{work_folder, true}, "");
  if (is_pairs(array)) return std::make_unique<PairsOfPart>(own_of(folder, array, part));
  const std::string own = path_in(folder, fmt::format("{:05}", part));
  if (array.extension == "tar")
    return std::make_unique<OwnFile>(own + ".tar", AtomicFile::OfShard{work_folder}, tar_end());
  return std::make_unique<Files>(own, work_folder, array.extension, parts.begin(part));
}

// Returns true if the array's own file or folder marks the shard as finished; otherwise an empty file does.
bool marks_itself(const ArraySpec& array) { return !is_rows(array) && !is_joined(array); }

FileDigest join_pairs(const std::string& folder, const ArraySpec& array, Parts parts,
                      const std::function<void()>& go_on) {
  std::vector<std::string> files;
  for (std::uint64_t k = 0; k < parts.count(); ++k) files.push_back(own_of(folder, array, k));
  return merge_pair_lists(files, path_in(folder, name_in_folder(array) + ".npy"), go_on);
}

}  // namespace

std::string FolderPart::mark(const std::string& folder, const DatasetSpec& spec, std::uint64_t part) {
  const ArraySpec& first = spec.arrays.front();
  const char* end = !marks_itself(first) ? ".done" : first.extension == "tar" ? ".tar" : "";
  return path_in(folder, fmt::format("{:05}{}", part, end));
}

bool FolderPart::is_there(const std::string& folder, const DatasetSpec& spec, std::uint64_t part) {
  return ::access(mark(folder, spec, part).c_str(), F_OK) == 0 &&
         std::all_of(spec.arrays.begin(), spec.arrays.end(), [&](const ArraySpec& array) {
           return !is_pairs(array) || is_pair_list(own_of(folder, array, part));
         });
}

FolderPart::FolderPart(const std::string& folder, const DatasetSpec& spec, Parts parts, std::uint64_t part)
    : mark_(marks_itself(spec.arrays.front()) ? "" : mark(folder, spec, part)), work_folder_(folder_of(folder)) {
  for (const ArraySpec& array : spec.arrays) arrays_.push_back(open(folder, array, spec, parts, part));
}
FolderPart::~FolderPart() = default;

void FolderPart::append(const RowBlock& block) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i]->append(block.arrays[i]);
}

void FolderPart::finish() {
  for (const auto& array : arrays_) array->finish();
}

void FolderPart::commit() {
  // The first array is committed last: if it is there, all are.
  for (std::size_t i = arrays_.size(); i-- > 0;) arrays_[i]->commit();
  if (!mark_.empty()) AtomicFile(mark_, AtomicFile::OfShard{work_folder_, true}).commit();
}

std::vector<FileDigest> FolderPart::digests() const {
  std::vector<FileDigest> out;
  for (const auto& array : arrays_) array->add_digests(out);
  return out;
}

PartBytes folder_part_bytes(const std::string& folder, const DatasetSpec& spec, Parts parts, std::uint64_t part) {
  PartBytes out;
  if (!FolderPart::is_there(folder, spec, part)) return out;
  for (const ArraySpec& array : spec.arrays) {
    if (is_rows(array)) {
      out.push_back({file_of(folder, array), header_of_rows(array, spec).size() + parts.begin(part) * array.row_bytes(),
                     (parts.end(part) - parts.begin(part)) * array.row_bytes()});
    } else if (is_joined(array)) {
      out.push_back({own_of(folder, array, part)});
    } else if (array.extension == "tar") {
      out.push_back({path_in(folder, fmt::format("{:05}.tar", part))});
    } else {
      out.push_back({.path = path_in(folder, fmt::format("{:05}", part)), .is_folder = true});
    }
  }
  return out;
}

bool import_folder_part(const std::string& from, const std::string& to, const DatasetSpec& spec, Parts parts,
                        std::uint64_t part) {
  if (!FolderPart::is_there(from, spec, part)) return false;
  bool all = true;
  // The first array is imported last, as in commit().
  for (std::size_t i = spec.arrays.size(); i-- > 0 && all;) {
    const ArraySpec& array = spec.arrays[i];
    if (is_rows(array)) {
      SharedRows rows(file_of(to, array), array, spec, parts.begin(part));
      rows.import(file_of(from, array), (parts.end(part) - parts.begin(part)) * array.row_bytes());
      rows.commit();
    } else if (is_joined(array)) {
      all = import_file(from, own_name(array, part), to, {folder_of(to), true});
    } else if (array.extension == "tar") {
      all = import_file(from, fmt::format("{:05}.tar", part), to, {folder_of(to)});
    } else {
      all = import_folder(from, fmt::format("{:05}", part), to, folder_of(to));
    }
  }
  if (all && !marks_itself(spec.arrays.front())) {
    AtomicFile(FolderPart::mark(to, spec, part), AtomicFile::OfShard{folder_of(to), true}).commit();
  }
  return all;
}

std::vector<FileDigest> join_folder_parts(const std::string& folder, const DatasetSpec& spec, Parts parts,
                                          const std::function<void()>& go_on) {
  std::vector<FileDigest> out;
  for (const ArraySpec& array : spec.arrays) {
    if (const std::string header = header_of_rows(array, spec); !header.empty()) {
      out.push_back(
          {std::string(file_name(file_of(folder, array))), header.size(), XXH3_64bits(header.data(), header.size())});
    }
    if (is_pairs(array)) out.push_back(join_pairs(folder, array, parts, go_on));
    if (!is_lines(array)) continue;
    AtomicFile whole(file_of(folder, array), AtomicFile::OfShard{folder_of(folder)});
    if (!array.header.empty()) whole.write(array.header + "\n");
    for (std::uint64_t k = 0; k < parts.count(); ++k) {
      auto lines = FileReader::open(own_of(folder, array, k), FileReader::Hashing::off).or_throw();
      for (auto bytes = lines->next(); !bytes.empty(); bytes = lines->next()) {
        go_on();
        whole.write(std::as_bytes(bytes));
      }
      if (lines->failed()) throw Failure(lines->error());
    }
    whole.commit();
    out.push_back(whole.digest());
  }
  return out;
}

bool stays_in_output(const DatasetSpec& spec, std::uint64_t part, const std::string& file) {
  return std::none_of(spec.arrays.begin(), spec.arrays.end(),
                      [&](const ArraySpec& array) { return is_joined(array) && own_name(array, part) == file; });
}

void tidy_folder_parts(const std::string& folder, const DatasetSpec& spec, Parts parts) {
  for (std::uint64_t k = 0; k < parts.count(); ++k) {
    for (const ArraySpec& array : spec.arrays) {
      if (is_joined(array)) ::unlink(own_of(folder, array, k).c_str());
    }
    if (!marks_itself(spec.arrays.front())) ::unlink(FolderPart::mark(folder, spec, k).c_str());
  }
}

}  // namespace millrace
