#include "src/io/store/hdf5_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/store/end_line.h"
#include "src/io/store/hdf5_types.h"

namespace millrace {
namespace {

using hdf5::DatasetLayout;
using hdf5::Handle;

constexpr const char* kWhole = "whole";
Handle properties(hid_t kind) { return {H5Pcreate(kind), H5Pclose}; }
Handle space_of(const std::vector<hsize_t>& shape) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose};
}

// An open dataset and its type, for writing.
struct OpenSet {
  DatasetLayout what;
  Handle type, set;
};

// HDF5 reads numbered files until one is missing. The dataset ends there, instead of continuing with rows of zeros. All
// files of a series must map the same number of rows, but the last shard has fewer, r. So each shard is mapped in two
// ranges. The first has r rows, which all shards have. The rest has a name that the last shard lacks.
void map_shards(const Handle& how, std::uint64_t rows, const DatasetLayout& set, const Hdf5Writer::Mapped& mapped) {
  const hsize_t rest = rows % mapped.each;
  std::string files;
  for (const char c : mapped.folder) files += c == '%' ? std::string("%%") : std::string(1, c);
  files += "/%b.h5";
  const auto map = [&](hsize_t begin, hsize_t count, const char* name) {
    const std::vector<hsize_t> all = prepend_count(rows, set.shape), each = prepend_count(mapped.each, set.shape);
    std::vector<hsize_t> most(all), start(all.size(), 0), stride(all.size(), 1),
        block = prepend_count(count, set.shape), many(all.size(), 1);
    most[0] = many[0] = H5S_UNLIMITED;
    start[0] = begin;
    stride[0] = mapped.each;
    const Handle to{H5Screate_simple(static_cast<int>(all.size()), all.data(), most.data()), H5Sclose};
    const Handle from = space_of(each);
    H5Sselect_hyperslab(to.get(), H5S_SELECT_SET, start.data(), stride.data(), many.data(), block.data());
    H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr);
    if (H5Pset_virtual(how.get(), to.get(), files.c_str(), name, from.get()) < 0) {
      hdf5::fail("its shards cannot be mapped", mapped.folder);
    }
  };
  if (rest > 0) map(0, rest, set.name.c_str());
  if (rows >= mapped.each) map(rest, mapped.each - rest, kWhole);
}

// Selects rows [first, first + count) of an open dataset; `shape` begins with count.
Handle rows_of(const Handle& set, std::uint64_t first, const std::vector<hsize_t>& shape) {
  std::vector<hsize_t> start(shape.size(), 0);
  start[0] = first;
  Handle there{H5Dget_space(set.get()), H5Sclose};
  H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
  return there;
}

std::string encoded(const Handle& type) {
  std::size_t bytes = 0;
  if (H5Tencode(type.get(), nullptr, &bytes) < 0) hdf5::fail("its type cannot be encoded", "");
  std::string out(bytes, '\0');
  if (H5Tencode(type.get(), out.data(), &bytes) < 0) hdf5::fail("its type cannot be encoded", "");
  return out;
}

}  // namespace

struct Hdf5Writer::State {
  std::string name, path;  // final path, and the path until commit()
  bool committed = false, kept = false;
  FileState created{};  // state of the file that this writer has made
  DatasetSpec spec;
  Handle file;
  std::vector<OpenSet> sets;
  std::uint64_t at = 0;
  EndLine::MappedShards parts;
  std::vector<std::uint8_t> rows;
  FileDigest digest;  // digest of the finished file

  // Refuses a file that another program has put under the name; that file is not removed.
  void refuse_another(const std::optional<FileState>& named) {
    if (named && created.has_same_inode(*named)) return;
    committed = true;
    throw Failure(ErrorCode::conflict, "another program replaced or removed it", path,
                  "make sure that no other run writes the same output, and run the same command again");
  }

  Handle create(const DatasetLayout& set, const Handle& type, const Handle& how, hsize_t most) const {
    const std::vector<hsize_t> shape = prepend_count(spec.rows, set.shape);
    std::vector<hsize_t> largest(shape);
    largest[0] = most;
    const Handle space{H5Screate_simple(static_cast<int>(shape.size()), shape.data(), largest.data()), H5Sclose};
    Handle out{H5Dcreate2(file.get(), set.name.c_str(), type.get(), space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
               H5Dclose};
    if (!out) hdf5::fail(fmt::format("'{}' cannot be created", set.name), path);
    return out;
  }
  void create(const DatasetLayout& set, const Kind& kind);
  void write_attributes(const OpenSet& open) const;
  void write_attributes() const;

  // Writes rows from `at` on.
  void write(const OpenSet& open, std::uint64_t count, const void* data) const {
    const std::vector<hsize_t> shape = prepend_count(count, open.what.shape);
    const Handle memory = space_of(shape), there = rows_of(open.set, at, shape);
    if (H5Dwrite(open.set.get(), open.type.get(), memory.get(), there.get(), H5P_DEFAULT, data) < 0) {
      hdf5::fail("the write failed", path);
    }
  }
  void write_chunks(const OpenSet& open, const ArrayRows& rows) const {
    std::vector<hsize_t> offset(open.what.shape.size() + 1, 0);
    rows.each([&](std::size_t i, std::span<const std::uint8_t> chunk) {
      offset[0] = at + i;
      if (H5Dwrite_chunk(open.set.get(), H5P_DEFAULT, 0, offset.data(), chunk.size(), chunk.data()) < 0) {
        hdf5::fail("the write failed", path);
      }
    });
  }
};

void Hdf5Writer::State::create(const DatasetLayout& set, const Kind& kind) {
  const Handle how = properties(H5P_DATASET_CREATE);
  // A time would make the bytes of two equal runs differ.
  H5Pset_obj_track_times(how.get(), false);
  H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);
  OpenSet open{set, hdf5::type_of(set, spec), Handle()};
  const auto* mapped = std::get_if<Mapped>(&kind);
  if (set.compressed && mapped != nullptr) {
    map_shards(how, spec.rows, set, *mapped);
    open.set = create(set, open.type, how, H5S_UNLIMITED);
  } else if (set.compressed) {
    const std::vector<hsize_t> chunk = prepend_count(1, set.shape);
    H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(how.get(), 4);
    open.set = create(set, open.type, how, spec.rows);
    const auto* shard = std::get_if<Shard>(&kind);
    if (shard != nullptr && shard->each == spec.rows &&
        H5Lcreate_hard(file.get(), set.name.c_str(), file.get(), kWhole, H5P_DEFAULT, H5P_DEFAULT) < 0) {
      hdf5::fail(fmt::format("'{}' cannot be created", kWhole), path);
    }
  } else {
    // Space is allocated before the first row, so that its position does not depend on how many rows come at once.
    H5Pset_alloc_time(how.get(), H5D_ALLOC_TIME_EARLY);
    open.set = create(set, open.type, how, spec.rows);
  }
  write_attributes(open);
  sets.push_back(std::move(open));
}

void Hdf5Writer::State::write_attributes(const OpenSet& open) const {
  for (const std::size_t i : open.what.arrays) {
    for (const auto& [name, numbers] : spec.arrays[i].attributes) {
      const Handle space = space_of({numbers.size()});
      const Handle attribute{
          H5Acreate2(open.set.get(), name.c_str(), H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
      if (!attribute || H5Awrite(attribute.get(), H5T_NATIVE_INT64, numbers.data()) < 0) {
        hdf5::fail(fmt::format("the attribute '{}' cannot be written", name), path);
      }
    }
  }
}

void Hdf5Writer::State::write_attributes() const {
  for (const auto& [name, value] : spec.attributes) {
    const Handle text = hdf5::text_type(value.size());
    const Handle scalar{H5Screate(H5S_SCALAR), H5Sclose};
    const Handle attribute{H5Acreate2(file.get(), name.c_str(), text.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose};
    if (!attribute || H5Awrite(attribute.get(), text.get(), value.empty() ? "" : value.data()) < 0) {
      hdf5::fail(fmt::format("the attribute '{}' cannot be written", name), path);
    }
  }
}

Hdf5Writer::Hdf5Writer(std::string path, const DatasetSpec& spec, const Kind& kind)
    : state_(std::make_unique<State>()) {
  hdf5::silence_errors();
  State& s = *state_;
  // A shard, which another run may be making too, gets a unique temporary name. The output itself has a fixed temporary
  // name, by which a later run finds and continues it.
  const bool is_shard = std::holds_alternative<Shard>(kind);
  s.path = is_shard ? join_path(folder_of(path), unique_temporary_name()) : path + ".part";
  // HDF5 would write through a symbolic link that somebody put there.
  ::unlink(s.path.c_str());
  s.name = std::move(path);
  s.spec = spec;
  const Handle access = properties(H5P_FILE_ACCESS);
  // The format of 1.10, whose chunk index is an array instead of a tree.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  const Handle creation = properties(H5P_FILE_CREATE);
  H5Pset_obj_track_times(creation.get(), false);
  s.file = {H5Fcreate(s.path.c_str(), H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose};
  if (!s.file) hdf5::fail("it cannot be created", s.path);
  // The state is taken from the open file: the name may belong to another run by now.
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(s.file.get(), access.get(), &descriptor) < 0 || descriptor == nullptr) {
    hdf5::fail("it cannot be examined", s.path);
  }
  s.created = state_of_descriptor(*static_cast<const int*>(descriptor)).value_or(FileState());
  for (const DatasetLayout& set : hdf5::layouts_of(spec)) s.create(set, kind);
  s.write_attributes();
}

Hdf5Writer::~Hdf5Writer() {
  if (state_->committed || state_->kept) return;
  const auto named = state_of_name(AT_FDCWD, state_->path);
  if (named && state_->created.has_same_inode(*named)) ::unlink(state_->path.c_str());
}

void Hdf5Writer::keep_temporary_file() { state_->kept = true; }

void Hdf5Writer::commit() {
  sync_file(state_->path);
  state_->refuse_another(state_of_name(AT_FDCWD, state_->path));
  rename_file(state_->path, state_->name);
  state_->committed = true;
}

std::vector<FileDigest> Hdf5Writer::digests() const { return {state_->digest}; }

void Hdf5Writer::append(const RowBlock& block) {
  hdf5::silence_errors();
  State& s = *state_;
  if (block.rows == 0) return;
  for (const OpenSet& open : s.sets) {
    const std::size_t first = open.what.arrays.front();
    if (open.what.compressed) {
      s.write_chunks(open, block.arrays[first]);
    } else if (!open.what.table && s.spec.arrays[first].rows == ArraySpec::Rows::numbers) {
      s.write(open, block.rows, block.arrays[first].bytes.data());
    } else {
      hdf5::put_table(open.what, s.spec, block, s.rows);
      s.write(open, block.rows, s.rows.data());
    }
  }
  s.at += block.rows;
}

void Hdf5Writer::append_rest(hdf5::DatasetReader& reader, const std::string& path, std::uint64_t rows) {
  hdf5::silence_errors();
  State& s = *state_;
  if (rows > s.spec.rows - s.at) {
    throw Failure(ErrorCode::bad_data, "it has more rows than fit in the output", path);
  }
  const auto line = read_end_line(path);
  if (!line)
    throw Failure(ErrorCode::bad_data, "it has no checksum", path, "remove it, and run the same command again");
  s.parts.add(*line);
  const auto file = FileReader::open(path, FileReader::Hashing::off).or_throw();
  const std::uint64_t begin = s.at;
  for (const OpenSet& open : s.sets) {
    if (open.what.compressed) continue;
    const hdf5::StoredDataset what{open.what.name, encoded(open.type), rows, open.what.row_bytes};
    const std::uint64_t at_once =
        std::max<std::uint64_t>(1, hdf5::helper::kMaxRowBytes / std::max<std::uint64_t>(1, what.row_bytes));
    for (std::uint64_t row = 0; row < rows; row += at_once) {
      const std::uint64_t count = std::min(at_once, rows - row);
      reader.read_stored(*file, what, row, count, s.rows);
      s.at = begin + row;
      s.write(open, count, s.rows.data());
    }
    s.at = begin;
  }
  s.at += rows;
}

void Hdf5Writer::finish(const std::function<void()>& check_cancelled) {
  hdf5::silence_errors();
  State& s = *state_;
  if (s.at != s.spec.rows) {
    throw Failure(ErrorCode::internal, fmt::format("{} of {} rows were written", s.at, s.spec.rows), s.path);
  }
  bool done = true;
  for (OpenSet& open : s.sets) done = open.set.close() && done;
  if (!s.file.close() || !done) hdf5::fail("the file could not be closed", s.path);
  const Descriptor file(::open(s.path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  s.refuse_another(state_of_descriptor(file.get()));
  s.digest = write_end_line(file.get(), s.path, s.parts, check_cancelled);
  s.digest.name = std::string(file_name(s.name));
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace millrace
