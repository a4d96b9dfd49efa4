#include "src/io/tensor/npy.h"
#include "src/io/file/resumable_file.h"
#include "src/io/raster/formats.h"

namespace millrace::raster {
namespace {

// Array [height, width]; or [planes, height, width] for floating point, whose planes are classes, even if there is only
// one.
class NpyRaster : public RasterWriter {
 public:
  NpyRaster(const RasterSpec& spec, const std::string& path, std::uint64_t rows)
      : spec_(spec),
        header_(npy::header_text({{"", spec.type}}, shape_of(spec))),
        row_(rows),
        file_(rows == 0
                  ? ResumableFile(path)
                  : ResumableFile(path, header_.size() + ((spec.planes - 1) * spec.height + rows) * spec.row_bytes())) {
    if (rows == 0) file_.append(header_);
  }

  void append(std::span<const std::byte> row) override {
    const std::uint64_t bytes = spec_.row_bytes();
    for (std::uint64_t plane = 0; plane < spec_.planes; ++plane) {
      file_.write_at(header_.size() + (plane * spec_.height + row_) * bytes, row.subspan(plane * bytes, bytes));
    }
    ++row_;
  }
  std::string save() override {
    file_.sync();
    return format_numbers({row_});
  }
  void finish() override { file_.sync(); }

 private:
  static std::vector<std::uint64_t> shape_of(const RasterSpec& spec) {
    std::vector<std::uint64_t> out;
    if (spec.type != kUint8 || spec.planes > 1) out.push_back(spec.planes);
    out.insert(out.end(), {spec.height, spec.width});
    if (spec.samples > 1) out.push_back(spec.samples);
    return out;
  }

  const RasterSpec spec_;
  const std::string header_;
  std::uint64_t row_;
  ResumableFile file_;
};

}  // namespace

std::unique_ptr<RasterWriter> npy(const RasterSpec& spec, const std::string& path, std::uint64_t rows) {
  return std::make_unique<NpyRaster>(spec, path, rows);
}

}  // namespace millrace::raster
