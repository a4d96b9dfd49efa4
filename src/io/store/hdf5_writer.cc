#include "src/io/store/hdf5_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "src/io/file/atomic_file.h"
#include "src/io/store/hdf5_types.h"

namespace millrace {
namespace {

using hdf5::Handle;
using hdf5::Set;

constexpr const char* kWhole = "whole";
// Bytes of a text that is read from a file: run.json's inputs are the longest.
constexpr std::size_t kMostAttribute = 64 << 20;
// Bytes that go from a part to a file that maps it at once.
constexpr std::size_t kCopied = 4 << 20;

Handle properties(hid_t kind) { return {H5Pcreate(kind), H5Pclose}; }
Handle space_of(const std::vector<hsize_t>& shape) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose};
}

// A dataset that stands open, and what comes and goes through it.
struct OpenSet {
  Set what;
  Handle type, set;
};

// HDF5 goes on with numbered files until one is missing: that is where the dataset ends, instead of in rows that are
// nothing but zeros. All of a series of files must map as many rows, but the last part has fewer, r: so each part is
// mapped in two pieces, its first r rows, which all have, and the rest, by a name that the last one lacks.
void map_parts(const Handle& how, std::uint64_t rows, const Set& set, const Hdf5Writer::Mapped& mapped) {
  const hsize_t rest = rows % mapped.each;
  std::string files;
  for (const char c : mapped.folder) files += c == '%' ? std::string("%%") : std::string(1, c);
  files += "/%b.h5";
  const auto map = [&](hsize_t begin, hsize_t count, const char* name) {
    const std::vector<hsize_t> all = with_count(rows, set.shape), each = with_count(mapped.each, set.shape);
    std::vector<hsize_t> most(all), start(all.size(), 0), stride(all.size(), 1), block = with_count(count, set.shape),
                                                                                 many(all.size(), 1);
    most[0] = many[0] = H5S_UNLIMITED;
    start[0] = begin;
    stride[0] = mapped.each;
    const Handle to{H5Screate_simple(static_cast<int>(all.size()), all.data(), most.data()), H5Sclose};
    const Handle from = space_of(each);
    H5Sselect_hyperslab(to.get(), H5S_SELECT_SET, start.data(), stride.data(), many.data(), block.data());
    H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr);
    if (H5Pset_virtual(how.get(), to.get(), files.c_str(), name, from.get()) < 0) {
      hdf5::fail("its parts cannot be mapped", mapped.folder);
    }
  };
  if (rest > 0) map(0, rest, set.name.c_str());
  if (rows >= mapped.each) map(rest, mapped.each - rest, kWhole);
}

// A dataset of this very file: a part may be somebody else's, and must not lead to what lies elsewhere.
Handle open_own(const Handle& file, const std::string& name, const std::string& path) {
  H5L_info_t link{};
  if (H5Lget_info(file.get(), name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
    hdf5::fail(fmt::format("'{}' is not in it", name), path);
  }
  Handle set{H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose};
  if (!set) hdf5::fail(fmt::format("'{}' is not in it", name), path);
  const Handle how{H5Dget_create_plist(set.get()), H5Pclose};
  if (H5Pget_layout(how.get()) != H5D_CONTIGUOUS || H5Pget_external_count(how.get()) != 0) {
    throw Failure(ErrorCode::bad_data, fmt::format("'{}' does not lie in it as a run writes it", name), path);
  }
  return set;
}

// Rows [first, first + count) of a dataset that stands open.
Handle rows_of(const Handle& set, std::uint64_t first, const std::vector<hsize_t>& shape) {
  std::vector<hsize_t> start(shape.size(), 0);
  start[0] = first;
  Handle there{H5Dget_space(set.get()), H5Sclose};
  H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
  return there;
}

}  // namespace

struct Hdf5Writer::State {
  std::string name, path;  // the last name, and the one until then
  bool committed = false, kept = false;
  DatasetSpec spec;
  Handle file;
  std::vector<OpenSet> sets;
  std::uint64_t at = 0;
  std::vector<std::uint8_t> rows;

  Handle create(const Set& set, const Handle& type, const Handle& how, hsize_t most) const {
    const std::vector<hsize_t> shape = with_count(spec.rows, set.shape);
    std::vector<hsize_t> largest(shape);
    largest[0] = most;
    const Handle space{H5Screate_simple(static_cast<int>(shape.size()), shape.data(), largest.data()), H5Sclose};
    Handle out{H5Dcreate2(file.get(), set.name.c_str(), type.get(), space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
               H5Dclose};
    if (!out) hdf5::fail(fmt::format("'{}' cannot be created", set.name), path);
    return out;
  }
  void create(const Set& set, const Kind& kind);
  void write_attributes(const OpenSet& open) const;
  void write_attributes() const;

  // Rows from `at` on.
  void write(const OpenSet& open, std::uint64_t count, const void* data) const {
    const std::vector<hsize_t> shape = with_count(count, open.what.shape);
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
  void copy(const Handle& from_file, const std::string& from_path, const OpenSet& open, hsize_t count);
};

void Hdf5Writer::State::create(const Set& set, const Kind& kind) {
  const Handle how = properties(H5P_DATASET_CREATE);
  // A time would make the bytes of two equal runs differ.
  H5Pset_obj_track_times(how.get(), false);
  H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);
  OpenSet open{set, hdf5::type_of(set, spec), Handle()};
  const auto* mapped = std::get_if<Mapped>(&kind);
  if (set.compressed && mapped != nullptr) {
    map_parts(how, spec.rows, set, *mapped);
    open.set = create(set, open.type, how, H5S_UNLIMITED);
  } else if (set.compressed) {
    const std::vector<hsize_t> chunk = with_count(1, set.shape);
    H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(how.get(), 4);
    open.set = create(set, open.type, how, spec.rows);
    const auto* part = std::get_if<Part>(&kind);
    if (part != nullptr && part->each == spec.rows &&
        H5Lcreate_hard(file.get(), set.name.c_str(), file.get(), kWhole, H5P_DEFAULT, H5P_DEFAULT) < 0) {
      hdf5::fail(fmt::format("'{}' cannot be created", kWhole), path);
    }
  } else {
    // Before the first row, so that where they lie does not depend on how many rows come at once.
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
  hdf5::be_quiet();
  State& s = *state_;
  s.path = path + ".part";
  // HDF5 would write through a link that somebody put there.
  ::unlink(s.path.c_str());
  s.name = std::move(path);
  s.spec = spec;
  const Handle access = properties(H5P_FILE_ACCESS);
  // The format of 1.10, whose index of chunks is an array, not a tree.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  const Handle creation = properties(H5P_FILE_CREATE);
  H5Pset_obj_track_times(creation.get(), false);
  s.file = {H5Fcreate(s.path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
  if (!s.file) hdf5::fail("it cannot be created", s.path);
  for (const Set& set : hdf5::sets_of(spec)) s.create(set, kind);
  s.write_attributes();
}

Hdf5Writer::~Hdf5Writer() {
  if (!state_->committed && !state_->kept) ::unlink(state_->path.c_str());
}

void Hdf5Writer::keep_unfinished() { state_->kept = true; }

void Hdf5Writer::commit() {
  sync_file(state_->path);
  rename_file(state_->path, state_->name);
  state_->committed = true;
}

void Hdf5Writer::append(const RowBlock& block) {
  hdf5::be_quiet();
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

void Hdf5Writer::State::copy(const Handle& from_file, const std::string& from_path, const OpenSet& open,
                             hsize_t count) {
  const Handle from = open_own(from_file, open.what.name, from_path);
  const hsize_t at_once = std::max<hsize_t>(1, kCopied / std::max<std::size_t>(1, open.what.row_bytes)), first = at;
  for (hsize_t row = 0; row < count; row += at_once) {
    const hsize_t together = std::min(at_once, count - row);
    const std::vector<hsize_t> shape = with_count(together, open.what.shape);
    rows.resize(together * open.what.row_bytes);
    const Handle memory = space_of(shape), there = rows_of(from, row, shape);
    if (H5Dread(from.get(), open.type.get(), memory.get(), there.get(), H5P_DEFAULT, rows.data()) < 0) {
      hdf5::fail(fmt::format("'{}' cannot be read", open.what.name), from_path);
    }
    at = first + row;
    write(open, together, rows.data());
  }
  at = first;
}

void Hdf5Writer::append_rest(const std::string& path) {
  hdf5::be_quiet();
  State& s = *state_;
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!file) hdf5::fail("it cannot be read", path);
  std::vector<hsize_t> shape;
  for (const OpenSet& open : s.sets) {
    if (open.what.compressed) continue;
    const Handle set = open_own(file, open.what.name, path);
    const Handle space{H5Dget_space(set.get()), H5Sclose};
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    std::vector<hsize_t> there(static_cast<std::size_t>(std::max(0, dimensions)));
    if (there.empty() || H5Sget_simple_extent_dims(space.get(), there.data(), nullptr) != dimensions ||
        there != with_count(there.front(), open.what.shape) || (!shape.empty() && shape.front() != there.front()) ||
        there.front() > s.spec.rows - s.at) {
      hdf5::fail(fmt::format("'{}' has another shape", open.what.name), path);
    }
    shape = there;
  }
  if (shape.empty()) return;
  for (const OpenSet& open : s.sets) {
    if (!open.what.compressed) s.copy(file, path, open, shape.front());
  }
  s.at += shape.front();
}

void Hdf5Writer::finish() {
  hdf5::be_quiet();
  State& s = *state_;
  if (s.at != s.spec.rows) {
    throw Failure(ErrorCode::internal, fmt::format("{} of {} rows were written", s.at, s.spec.rows), s.path);
  }
  bool done = true;
  for (OpenSet& open : s.sets) done = open.set.close() && done;
  if (!s.file.close() || !done) hdf5::fail("the file could not be closed", s.path);
}

Outcome<Attributes> hdf5_attributes(const std::string& path) {
  hdf5::be_quiet();
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!file) return Error{ErrorCode::bad_data, "it is not an HDF5 file", path, ""};
  Attributes out;
  const auto read = [](hid_t object, const char* name, const H5A_info_t*, void* list) -> herr_t {
    const Handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
    const Handle type{H5Aget_type(attribute.get()), H5Tclose};
    const Handle space{H5Aget_space(attribute.get()), H5Sclose};
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) return 0;
    // Others have lists of texts, and texts of any length.
    if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR || H5Tget_size(type.get()) > kMostAttribute) return 0;
    std::string value(H5Tget_size(type.get()), '\0');
    if (H5Aread(attribute.get(), type.get(), value.data()) < 0) return 0;
    value.resize(std::min(value.size(), value.find('\0')));  // an empty text is stored as one zero
    static_cast<Attributes*>(list)->emplace_back(name, std::move(value));
    return 0;
  };
  hsize_t at = 0;
  H5Aiterate2(file.get(), H5_INDEX_NAME, H5_ITER_INC, &at, read, &out);
  return out;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace millrace
