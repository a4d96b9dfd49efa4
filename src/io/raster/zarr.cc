#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/io/file/resumable_file.h"
#include "src/io/raster/formats.h"
#include "src/io/store/zarr_json.h"

namespace millrace::raster {
namespace {

// Level 1 finds the runs in masks. In floating point, a higher level finds little more.
constexpr int kLevel = 1;

// OME-Zarr 0.5: a group with one image in full size, which is the array "0". Its axes are those of the image.
class ZarrRaster : public RasterWriter {
 public:
  ZarrRaster(const RasterSpec& spec, const std::string& path, std::uint64_t rows, const std::string& saved)
      : spec_(spec),
        path_(path),
        rows_(spec_, kZarrChunk),
        pending_file_(path),
        row_of_chunks_(rows / kZarrChunk.height) {
    if (saved.empty()) {
      std::error_code error;
      std::filesystem::remove_all(path_, error);
      zarr::write_json(path_, group());
      zarr::write_json(path_ + "/0", array());
    } else {
      for (const std::string& json : {path_ + "/zarr.json", path_ + "/0/zarr.json"}) {
        std::error_code error;
        if (!std::filesystem::exists(json, error))
          throw Failure(ErrorCode::conflict, "expected from an interrupted run, but not found",
                        escape_unprintable(json));
      }
      pending_file_ = PendingDataFile(path, parse_numbers(saved, 1)[0]);
      pending_file_.restore({rows_.restore(rows)});
    }
    raw_.resize(kZarrChunk.height * kZarrChunk.width * spec.type.bytes());
  }

  void append(std::span<const std::byte> row) override {
    if (!rows_.append(row)) return;
    const std::uint64_t across = (spec_.width + kZarrChunk.width - 1) / kZarrChunk.width;
    for (std::uint64_t plane = 0; plane < spec_.planes; ++plane) {
      const std::string folder =
          path_ + "/0/c/" + (has_planes() ? std::to_string(plane) + "/" : "") + std::to_string(row_of_chunks_);
      std::error_code error;
      std::filesystem::create_directories(folder, error);
      if (error) throw Failure(system_error("cannot be created", escape_unprintable(folder), error.value()));
      for (std::uint64_t column = 0; column < across; ++column) {
        rows_.tile(plane, column, raw_);
        compress();
        ResumableFile file(folder + "/" + std::to_string(column));
        file.append(std::as_bytes(std::span(packed_)));
      }
    }
    rows_.next();
    ++row_of_chunks_;
  }
  std::string save() override {
    sync();
    return format_numbers({pending_file_.save_data({rows_.pending_rows()})});
  }
  void finish() override { sync(); }

 private:
  bool has_planes() const { return spec_.type != kUint8 || spec_.planes > 1; }
  std::vector<std::uint64_t> with_planes(std::uint64_t planes, std::uint64_t height, std::uint64_t width) const {
    if (has_planes()) return {planes, height, width};
    return {height, width};
  }

  Json array() const {
    return zarr::array_json(with_planes(spec_.planes, spec_.height, spec_.width),
                            with_planes(1, kZarrChunk.height, kZarrChunk.width), name_of(spec_.type),
                            spec_.type == kUint8 ? Json(0) : Json(0.0),
                            Json::array({zarr::bytes_codec(spec_.type.bytes()), zarr::gzip_codec(kLevel)}));
  }
  Json group() const {
    Json axes = Json::array();
    if (has_planes()) axes.push_back({{"name", "c"}, {"type", "channel"}});
    for (const char* name : {"y", "x"}) axes.push_back({{"name", name}, {"type", "space"}});
    const Json scale = {{"type", "scale"}, {"scale", std::vector<double>(axes.size(), 1.0)}};
    const Json level = {{"path", "0"}, {"coordinateTransformations", Json::array({scale})}};
    Json ome = {{"version", "0.5"},
                {"multiscales", Json::array({{{"axes", axes}, {"datasets", Json::array({level})}}})}};
    if (!spec_.palette.empty()) {
      Json colors = Json::array();
      for (std::size_t k = 0; k < spec_.palette.size(); ++k) {
        const RasterSpec::Color& color = spec_.palette[k];
        colors.push_back(
            {{"label-value", k},
             {"rgba", {color[0], color[1], color[2], k < spec_.clear.size() && spec_.clear[k] ? 0 : 255}}});
      }
      ome["image-label"] = {{"version", "0.5"}, {"colors", colors}};
    }
    Json out = zarr::group_json();
    out["attributes"]["ome"] = ome;
    if (!spec_.names.empty()) {
      Json names = Json::array();
      for (const std::string& name : spec_.names) names.push_back(replace_invalid_utf8(name));
      out["attributes"]["classes"] = names;
    }
    return out;
  }

  void compress() {
    z_stream stream{};
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Failure(ErrorCode::internal, "zlib cannot be initialized");
    packed_.resize(deflateBound(&stream, static_cast<uLong>(raw_.size())));
    stream.next_in = reinterpret_cast<Bytef*>(raw_.data());
    stream.avail_in = static_cast<uInt>(raw_.size());
    stream.next_out = packed_.data();
    stream.avail_out = static_cast<uInt>(packed_.size());
    const int code = deflate(&stream, Z_FINISH);
    packed_.resize(stream.total_out);
    deflateEnd(&stream);
    if (code != Z_STREAM_END) throw Failure(ErrorCode::internal, "zlib failed to compress");
  }
  // A raster may have thousands of files, so the whole file system is synced at once.
  void sync() const {
    const Descriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || ::syncfs(folder.get()) != 0)
      throw Failure(system_error("cannot be written to the disk", escape_unprintable(path_), errno));
  }

  const RasterSpec spec_;
  const std::string path_;
  TileRowBuffer rows_;
  PendingDataFile pending_file_;
  std::uint64_t row_of_chunks_;
  std::vector<std::byte> raw_;
  std::vector<std::uint8_t> packed_;
};

}  // namespace

std::unique_ptr<RasterWriter> zarr(const RasterSpec& spec, const std::string& path, std::uint64_t rows,
                                   const std::string& saved) {
  return std::make_unique<ZarrRaster>(spec, path, rows, saved);
}

}  // namespace millrace::raster
