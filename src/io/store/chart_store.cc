#include "src/io/store/chart_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "src/io/file/atomic_file.h"
#include "src/io/store/hdf5_handle.h"

namespace millrace {
namespace {

using hdf5::Handle;

constexpr const char* kImages = "images";
constexpr const char* kWhole = "whole";
constexpr const char* kSequences = "sequences";
constexpr const char* kLabels = "labels";
constexpr const char* kIndex = "index";
// Bytes of a table that go from a shard to a store at once.
constexpr std::size_t kCopied = 4 << 20;

Handle properties(hid_t kind) { return {H5Pcreate(kind), H5Pclose}; }
Handle space_of(const std::vector<hsize_t>& shape) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose};
}
Handle text_type(std::size_t bytes) {
  Handle type{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(type.get(), std::max<std::size_t>(1, bytes));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

// Rows of `index` as they lie in the file: file, row, then the symbol, then the dates.
std::size_t index_bytes(const ChartLayout& layout) {
  return 12 + layout.symbol_bytes + (layout.date_bytes > 0 ? 2 * layout.date_bytes + 8 : 0);
}
Handle index_type(const ChartLayout& layout) {
  Handle type{H5Tcreate(H5T_COMPOUND, index_bytes(layout)), H5Tclose};
  H5Tinsert(type.get(), "file", 0, H5T_STD_U32LE);
  H5Tinsert(type.get(), "row", 4, H5T_STD_U64LE);
  std::size_t at = 12;
  const auto add = [&](const char* name, hid_t field, std::size_t bytes) {
    H5Tinsert(type.get(), name, at, field);
    at += bytes;
  };
  if (layout.symbol_bytes > 0) add("symbol", text_type(layout.symbol_bytes).get(), layout.symbol_bytes);
  if (layout.date_bytes > 0) {
    add("date", text_type(layout.date_bytes).get(), layout.date_bytes);
    add("end_date", text_type(layout.date_bytes).get(), layout.date_bytes);
    add("end_time", H5T_STD_I64LE, 8);
  }
  return type;
}
void put_index(const ChartLayout& layout, const ChartBlock::Place& place, std::uint8_t* row) {
  const auto add = [&row](const void* bytes, std::size_t count, std::size_t room) {
    if (count > 0) std::memcpy(row, bytes, std::min(count, room));
    row += room;
  };
  add(&place.file, 4, 4);
  add(&place.row, 8, 8);
  add(place.symbol.data(), place.symbol.size(), layout.symbol_bytes);
  if (layout.date_bytes == 0) return;
  add(place.date.data(), place.date.size(), layout.date_bytes);
  add(place.end_date.data(), place.end_date.size(), layout.date_bytes);
  add(&place.end_time, 8, 8);
}

std::vector<hsize_t> hsizes(const std::vector<std::uint64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

}  // namespace

struct ChartStore::State {
  std::string name, path;  // the last name, and the one until then
  bool committed = false, kept = false;
  ChartLayout layout;
  Handle file, images, sequences, labels, index;
  std::uint64_t at = 0;
  std::vector<std::uint8_t> rows;

  Handle create(const char* name, hid_t type, const std::vector<hsize_t>& shape, const Handle& how,
                const std::vector<hsize_t>& most = {}) const {
    const Handle space{
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.empty() ? nullptr : most.data()), H5Sclose};
    Handle set{H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT), H5Dclose};
    if (!set) hdf5::fail(fmt::format("'{}' cannot be created", name), path);
    return set;
  }
  std::vector<hsize_t> sequence_shape() const { return hsizes(layout.sequence()); }
  // Rows [at, at + count) of a dataset.
  void write(const Handle& set, hid_t type, std::uint64_t count, const std::vector<hsize_t>& rest, const void* data) {
    const std::vector<hsize_t> shape = with_count(count, rest);
    std::vector<hsize_t> start(shape.size(), 0);
    start[0] = at;
    const Handle memory = space_of(shape);
    const Handle there{H5Dget_space(set.get()), H5Sclose};
    H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
    if (H5Dwrite(set.get(), type, memory.get(), there.get(), H5P_DEFAULT, data) < 0) {
      hdf5::fail("the write failed", path);
    }
  }
  void write_chunk(std::uint64_t chart, const void* data, std::size_t bytes) {
    const std::array<hsize_t, 4> offset = {chart, 0, 0, 0};
    if (H5Dwrite_chunk(images.get(), H5P_DEFAULT, 0, offset.data(), bytes, data) < 0) {
      hdf5::fail("the write failed", path);
    }
  }
};

namespace {

// HDF5 goes on with numbered files until one is missing: that is where the dataset ends, instead of in charts that are
// nothing but zeros. All of a series of files must map as many rows, but the last shard has fewer, r: so each shard is
// mapped in two parts, its first r charts, which all have, and the rest, by a name that the last one lacks.
void map_shards(const Handle& how, const ChartLayout& layout, const ChartStore::Mapped& mapped) {
  const std::vector<hsize_t> image = hsizes(layout.image);
  const hsize_t rest = layout.charts % mapped.each;
  std::string files;
  for (const char c : mapped.folder) files += c == '%' ? std::string("%%") : std::string(1, c);
  files += "/%b.h5";
  const auto map = [&](hsize_t begin, hsize_t count, const char* name) {
    const std::vector<hsize_t> all = with_count(layout.charts, image), each = with_count(mapped.each, image);
    std::vector<hsize_t> most(all), start(all.size(), 0), stride(all.size(), 1), block = with_count(count, image),
                                                                                 many(all.size(), 1);
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
  if (rest > 0) map(0, rest, kImages);
  if (layout.charts >= mapped.each) map(rest, mapped.each - rest, kWhole);
}

}  // namespace

ChartStore::ChartStore(std::string path, const ChartLayout& layout, Kind kind) : state_(std::make_unique<State>()) {
  hdf5::be_quiet();
  State& s = *state_;
  s.path = path + ".part";
  // HDF5 would write through a link that somebody put there.
  ::unlink(s.path.c_str());
  s.name = std::move(path);
  s.layout = layout;
  const Handle access = properties(H5P_FILE_ACCESS);
  // The format of 1.10, whose index of chunks is an array, not a tree.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  // A time, of the root group here and of the sets below, would make the bytes of two equal runs differ.
  const Handle creation = properties(H5P_FILE_CREATE);
  H5Pset_obj_track_times(creation.get(), false);
  s.file = {H5Fcreate(s.path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
  if (!s.file) hdf5::fail("it cannot be created", s.path);

  const Handle plain = properties(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(plain.get(), false);
  H5Pset_fill_time(plain.get(), H5D_FILL_TIME_NEVER);
  // Before the first chart, so that where they lie does not depend on how many charts come at once.
  H5Pset_alloc_time(plain.get(), H5D_ALLOC_TIME_EARLY);
  const Handle chunked = properties(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(chunked.get(), false);
  H5Pset_fill_time(chunked.get(), H5D_FILL_TIME_NEVER);
  const std::vector<hsize_t> image = hsizes(layout.image), all = with_count(layout.charts, image);
  const hid_t value = layout.floats ? H5T_IEEE_F32LE : H5T_STD_U8LE;
  if (const auto* mapped = std::get_if<Mapped>(&kind)) {
    map_shards(chunked, layout, *mapped);
    std::vector<hsize_t> most(all);
    most[0] = H5S_UNLIMITED;
    s.images = s.create(kImages, value, all, chunked, most);
  } else {
    const std::vector<hsize_t> chunk = with_count(1, image);
    H5Pset_chunk(chunked.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(chunked.get(), 4);
    s.images = s.create(kImages, value, all, chunked);
  }
  const auto* shard = std::get_if<Shard>(&kind);
  if (shard != nullptr && shard->each == layout.charts &&
      H5Lcreate_hard(s.file.get(), kImages, s.file.get(), kWhole, H5P_DEFAULT, H5P_DEFAULT) < 0) {
    hdf5::fail(fmt::format("'{}' cannot be created", kWhole), s.path);
  }
  s.sequences = s.create(kSequences, H5T_IEEE_F32LE, with_count(layout.charts, s.sequence_shape()), plain);
  if (!layout.horizons.empty()) {
    s.labels = s.create(kLabels, H5T_IEEE_F32LE, {layout.charts, layout.horizons.size()}, plain);
    const Handle space = space_of({layout.horizons.size()});
    const Handle horizons{H5Acreate2(s.labels.get(), "horizons", H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose};
    H5Awrite(horizons.get(), H5T_NATIVE_INT64, layout.horizons.data());
  }
  const Handle type = index_type(layout);
  s.index = s.create(kIndex, type.get(), {layout.charts}, plain);
  for (const auto& [name, value] : layout.attributes) {
    const Handle text = text_type(value.size());
    const Handle scalar{H5Screate(H5S_SCALAR), H5Sclose};
    const Handle attribute{H5Acreate2(s.file.get(), name.c_str(), text.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose};
    if (!attribute || H5Awrite(attribute.get(), text.get(), value.empty() ? "" : value.data()) < 0) {
      hdf5::fail(fmt::format("the attribute '{}' cannot be written", name), s.path);
    }
  }
}

ChartStore::~ChartStore() {
  if (!state_->committed && !state_->kept) ::unlink(state_->path.c_str());
}

void ChartStore::keep_unfinished() { state_->kept = true; }

void ChartStore::commit() {
  sync_file(state_->path);
  rename_file(state_->path, state_->name);
  state_->committed = true;
}

void ChartStore::append(const ChartBlock& block) {
  hdf5::be_quiet();
  State& s = *state_;
  const std::size_t count = block.count();
  if (count == 0) return;
  const std::uint8_t* chunk = block.images.data();
  for (std::size_t i = 0; i < count; ++i) {
    s.write_chunk(s.at + i, chunk, block.image_bytes[i]);
    chunk += block.image_bytes[i];
  }
  s.write(s.sequences, H5T_NATIVE_FLOAT, count, s.sequence_shape(), block.sequences.data());
  if (s.labels) s.write(s.labels, H5T_NATIVE_FLOAT, count, {s.layout.horizons.size()}, block.labels.data());
  const std::size_t bytes = index_bytes(s.layout);
  s.rows.assign(count * bytes, 0);
  for (std::size_t i = 0; i < count; ++i) {
    put_index(s.layout, block.places[i], s.rows.data() + i * bytes);
  }
  const Handle type = index_type(s.layout);
  s.write(s.index, type.get(), count, {}, s.rows.data());
  s.at += count;
}

void ChartStore::append_tables(const std::string& path) {
  hdf5::be_quiet();
  State& s = *state_;
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!file) hdf5::fail("it cannot be read", path);
  const auto open = [&](const char* name) {
    Handle set{H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose};
    if (!set) hdf5::fail(fmt::format("'{}' is not in it", name), path);
    return set;
  };
  const Handle index = open(kIndex);
  const Handle space{H5Dget_space(index.get()), H5Sclose};
  hsize_t charts = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Sget_simple_extent_dims(space.get(), &charts, nullptr) != 1) {
    hdf5::fail("its index has another shape", path);
  }
  const auto copy = [&](const char* name, const Handle& to, hid_t type, std::size_t each,
                        const std::vector<hsize_t>& rest) {
    const Handle from = open(name);
    const Handle all{H5Dget_space(from.get()), H5Sclose};
    const hsize_t at_once = std::max<hsize_t>(1, kCopied / each), first = s.at;
    std::vector<std::uint8_t> data;
    for (hsize_t row = 0; row < charts; row += at_once) {
      const hsize_t count = std::min(at_once, charts - row);
      const std::vector<hsize_t> part = with_count(count, rest);
      std::vector<hsize_t> start(part.size(), 0);
      start[0] = row;
      data.resize(count * each);
      const Handle memory = space_of(part);
      H5Sselect_hyperslab(all.get(), H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr);
      if (H5Dread(from.get(), type, memory.get(), all.get(), H5P_DEFAULT, data.data()) < 0) {
        hdf5::fail(fmt::format("'{}' cannot be read", name), path);
      }
      s.at = first + row;
      s.write(to, type, count, rest, data.data());
    }
    s.at = first;
  };
  const std::size_t horizons = s.layout.horizons.size();
  copy(kSequences, s.sequences, H5T_NATIVE_FLOAT, std::size_t{4} * s.layout.window * s.layout.columns,
       s.sequence_shape());
  if (s.labels) copy(kLabels, s.labels, H5T_NATIVE_FLOAT, 4 * horizons, {horizons});
  const Handle type = index_type(s.layout);
  copy(kIndex, s.index, type.get(), index_bytes(s.layout), {});
  s.at += charts;
}

void ChartStore::finish() {
  hdf5::be_quiet();
  State& s = *state_;
  if (s.at != s.layout.charts) {
    throw Failure(ErrorCode::internal, fmt::format("{} of {} charts were written", s.at, s.layout.charts), s.path);
  }
  bool done = true;
  for (Handle* handle : {&s.images, &s.sequences, &s.labels, &s.index, &s.file}) done = handle->close() && done;
  if (!done) hdf5::fail("the file could not be closed", s.path);
}

Outcome<Attributes> chart_store_attributes(const std::string& path) {
  hdf5::be_quiet();
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!file) return Error{ErrorCode::bad_data, "it is not an HDF5 file", path, ""};
  Attributes out;
  const auto read = [](hid_t object, const char* name, const H5A_info_t*, void* list) -> herr_t {
    const Handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
    const Handle type{H5Aget_type(attribute.get()), H5Tclose};
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) return 0;
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
