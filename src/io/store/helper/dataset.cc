#include "src/io/store/helper/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "src/io/store/helper/descriptor_driver.h"
#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5::helper {
namespace {

constexpr const char* kShapes =
    "expected a series [T], [T, 4] or [T, 5], or ready windows [N, n] or [N, n, 4], of numbers";

Failure refused(const std::string& what, const std::string& remedy = kShapes) {
  return {ErrorCode::unsupported, what, "", remedy};
}

const char* class_name(H5T_class_t kind) {
  switch (kind) {
    case H5T_STRING:
      return "text, not numbers";
    case H5T_COMPOUND:
      return "compound values, not numbers";
    case H5T_ENUM:
      return "values of an enumeration, not numbers";
    case H5T_VLEN:
    case H5T_ARRAY:
      return "arrays as its values, not numbers";
    case H5T_REFERENCE:
      return "references, not numbers";
    default:
      return "no numbers";
  }
}

// Called for a link that leads out of the file: the link is not followed, and its target is kept in `to`.
herr_t no_other_file(const char*, const char*, const char* file, const char* object, unsigned*, hid_t, void* to) {
  *static_cast<std::string*>(to) = fmt::format("{}:{}", file, object);
  return -1;
}

// Refuses a dataset whose numbers are in other files or datasets.
void refuse_other_files(const Handle& how) {
  constexpr std::size_t kMaxName = 1024;
  std::string first(kMaxName, '\0');
  std::size_t parts = 0;
  if (const int external = H5Pget_external_count(how.get()); external > 0) {
    parts = static_cast<std::size_t>(external);
    H5Pget_external(how.get(), 0, kMaxName - 1, first.data(), nullptr, nullptr);
  } else if (H5Pget_layout(how.get()) == H5D_VIRTUAL) {
    H5Pget_virtual_count(how.get(), &parts);
    if (parts > 0) H5Pget_virtual_filename(how.get(), 0, first.data(), kMaxName - 1);
  } else {
    return;
  }
  first.resize(first.find('\0'));
  // An empty name or "." is the file itself.
  if (first.empty() || first == ".")
    throw refused("it is a virtual dataset: its numbers are in other datasets",
                  "give those datasets, or copy the file with h5repack -l DATASET:CONTI");
  throw refused(fmt::format("its numbers are in other files: {}{}", first,
                            parts > 1 ? fmt::format(", the first of {}", parts) : ""),
                "give those files, or copy the file with h5repack -l DATASET:CONTI");
}

// Refuses a dataset whose filter is not available: it would fail at its first number, with a less useful message.
void check_filters(const Handle& how) {
  const int count = H5Pget_nfilters(how.get());
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, setting = 0;
    std::size_t settings = 0;
    char name[64] = {};
    const H5Z_filter_t filter = H5Pget_filter2(how.get(), static_cast<unsigned>(i), &flags, &settings, nullptr,
                                               sizeof name - 1, name, &setting);
    if (filter < 0) fail("its filters cannot be read", "");
    if (H5Zfilter_avail(filter) > 0) continue;
    throw refused(
        fmt::format("it is compressed with the filter {} ({}), which is not installed", filter,
                    *name != '\0' ? name : "without a name"),
        "set HDF5_PLUGIN_PATH to the folder of its plugin, or run h5repack -f GZIP=4 where the plugin is installed");
  }
}

}  // namespace

File::File(int fd) {
  silence_errors();
  const Handle access = access_by_descriptor(fd);  // kept: to close it would forget why the next call failed
  file_ = {H5Fopen(kGivenFile, H5F_ACC_RDONLY, access.get()), H5Fclose};
  if (!file_) fail(has_failed_with(H5E_NOTHDF5) ? "not an HDF5 file, or damaged" : "it cannot be opened", "");
  hsize_t bytes = 0;
  if (H5Fget_filesize(file_.get(), &bytes) < 0) fail("its size cannot be read", "");
  bytes_ = bytes;
}

std::vector<std::string> File::datasets() const {
  std::vector<std::string> out;
  const auto take = [](hid_t, const char* name, const H5O_info_t* about, void* list) -> herr_t {
    auto& names = *static_cast<std::vector<std::string>*>(list);
    if (about->type == H5O_TYPE_DATASET) names.push_back(std::string("/") + name);
    return names.size() > kMaxListed ? 1 : 0;
  };
  if (H5Ovisit2(file_.get(), H5_INDEX_NAME, H5_ITER_INC, take, &out, H5O_INFO_BASIC) < 0) {
    fail("its datasets cannot be listed", "");
  }
  std::sort(out.begin(), out.end());
  return out;
}

Dataset::Dataset(const File& file, const std::string& name) : name_(name) {
  open(file);
  const Handle how{H5Dget_create_plist(set_.get()), H5Pclose};
  if (!how) fail("its layout cannot be read", "");
  // This check comes before the shape: HDF5 would read the shape of a virtual dataset from those other files.
  refuse_other_files(how);
  type_ = {H5Dget_type(set_.get()), H5Tclose};
  const H5T_class_t kind = H5Tget_class(type_.get());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) throw refused(fmt::format("it contains {}", class_name(kind)));
  space_ = {H5Dget_space(set_.get()), H5Sclose};
  if (H5Sget_simple_extent_type(space_.get()) == H5S_NULL) throw refused("it has no values");
  const int dimensions = H5Sget_simple_extent_ndims(space_.get());
  if (dimensions == 0) throw refused("it is a single number");
  if (dimensions < 0 || dimensions > 3) throw refused(fmt::format("it has {} dimensions", dimensions));
  std::vector<hsize_t> sides(static_cast<std::size_t>(dimensions));
  if (H5Sget_simple_extent_dims(space_.get(), sides.data(), nullptr) != dimensions)
    fail("its shape cannot be read", "");
  shape_.assign(sides.begin(), sides.end());
  std::uint64_t values = 1;
  for (const std::uint64_t side : shape_) {
    if (side == 0) throw refused(fmt::format("it is empty: {}", words()));
    if (side > (std::uint64_t{1} << 48) / values) throw refused(fmt::format("it is too large: {}", words()));
    values *= side;
  }
  check_storage(file, how);
}

void Dataset::open(const File& file, std::uint64_t room, double chunks) {
  const Handle access{H5Pcreate(H5P_DATASET_ACCESS), H5Pclose};
  std::string elsewhere;
  H5Pset_elink_cb(access.get(), no_other_file, &elsewhere);
  if (room > 0) {
    H5Pset_chunk_cache(access.get(), static_cast<std::size_t>(std::min(100 * chunks + 521, 1e6)),
                       std::max<std::size_t>(1 << 20, room), 0.75);
  }
  set_.close();
  set_ = {H5Dopen2(file.id(), name_.c_str(), access.get()), H5Dclose};
  if (set_) return;
  if (elsewhere.empty()) fail("it cannot be opened", "");
  throw refused(fmt::format("it is a link into another file, {}", elsewhere), "give that file");
}

// Refuses a dataset whose filters are missing, or whose values were not all written.
void Dataset::check_storage(const File& file, const Handle& how) {
  check_filters(how);
  const H5D_layout_t layout = H5Pget_layout(how.get());
  const std::uint64_t each = H5Tget_size(type_.get());
  if (each == 0 || each > 32)
    throw refused(fmt::format("its numbers have {} bytes each, which is not supported", each));
  if (layout == H5D_CONTIGUOUS && H5Dget_offset(set_.get()) == HADDR_UNDEF)
    throw refused("its values were never written");
  if (layout != H5D_CHUNKED) return;
  std::vector<hsize_t> chunk(shape_.size());
  if (H5Pget_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data()) != static_cast<int>(chunk.size())) {
    fail("its chunks cannot be read", "");
  }
  // Floating point is used because a hostile file's numbers fit no integer.
  double bytes = static_cast<double>(each), across = 1, chunks = 1;
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    if (chunk[d] == 0) throw refused("its chunks are empty");
    const std::uint64_t count = (shape_[d] + chunk[d] - 1) / chunk[d];
    bytes *= static_cast<double>(chunk[d]);
    chunks *= static_cast<double>(count);
    if (d > 0) across *= static_cast<double>(count);
  }
  // No compression expands data more than this: the limit of DEFLATE is 1032.
  if (bytes > 1100.0 * static_cast<double>(file.bytes()) + (1 << 20)) {
    throw refused("its chunks are larger than the file can hold", "the file is damaged");
  }
  hsize_t written = 0;
  if (H5Dget_num_chunks(set_.get(), space_.get(), &written) < 0) fail("its chunks cannot be counted", "");
  if (static_cast<double>(written) < chunks) {
    throw refused(
        fmt::format("{} of its {:.0f} chunks were never written", chunks - static_cast<double>(written), chunks),
        "their values would read as 0: give a complete file");
  }
  chunk_bytes_ = static_cast<std::uint64_t>(bytes * across);
  // Reopens the dataset with a cache for a row of chunks: each chunk is then decompressed once.
  open(file, chunk_bytes_, across);
}

std::string Dataset::words() const {
  const bool whole = H5Tget_class(type_.get()) == H5T_INTEGER;
  const char* const kind = !whole ? "float" : H5Tget_sign(type_.get()) == H5T_SGN_NONE ? "uint" : "int";
  return fmt::format("{}{} [{}]", kind, 8 * H5Tget_size(type_.get()), fmt::join(shape_, ", "));
}

void Dataset::read_hyperslab(const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, double* out) const {
  const hsize_t values = std::accumulate(count.begin(), count.end(), hsize_t{1}, std::multiplies<>());
  const Handle memory{H5Screate_simple(1, &values, nullptr), H5Sclose};
  if (H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dread(set_.get(), H5T_NATIVE_DOUBLE, memory.get(), space_.get(), H5P_DEFAULT, out) < 0) {
    fail("it cannot be read", "");
  }
}

void Dataset::read(std::uint64_t columns, std::uint64_t first, std::uint64_t count, std::vector<double>& out) const {
  // Number of rows per step of the first dimension: 1 in a series, n in windows.
  std::uint64_t each = 1;
  for (std::size_t d = 1; d < shape_.size(); ++d) each *= shape_[d];
  const bool matches = columns > 0 && each % columns == 0 && count <= kMaxValues / columns &&
                       first <= shape_[0] * (each / columns) && count <= shape_[0] * (each / columns) - first;
  if (!matches) throw refused("it changed while it was read", "run the same command again");
  each /= columns;
  out.resize(count * columns);
  double* to = out.data();
  std::vector<hsize_t> start(shape_.size(), 0), part(shape_.begin(), shape_.end());
  while (count > 0) {
    const std::uint64_t within = first % each;
    std::uint64_t rows = 0;
    start[0] = first / each;
    if (within == 0 && count >= each) {
      part[0] = count / each;
      rows = part[0] * each;
      if (shape_.size() > 1) {
        start[1] = 0;
        part[1] = shape_[1];
      }
    } else {
      rows = std::min(each - within, count);
      part[0] = 1;
      start[1] = within;
      part[1] = rows;
    }
    read_hyperslab(start, part, to);
    to += rows * columns;
    first += rows;
    count -= rows;
  }
}

}  // namespace millrace::hdf5::helper
