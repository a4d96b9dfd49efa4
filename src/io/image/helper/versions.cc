// Libraries that this helper decodes with, for `millrace doctor`.
#include <fmt/format.h>
#include <gif_lib.h>
#include <libraw/libraw.h>
#include <vips/vips.h>

#include "src/base/version.h"
#include "src/io/image/helper/decoder.h"
#include "src/io/image/picture.h"

namespace millrace::helper {
namespace {

void print_library(const char* name, const std::string& version, const std::vector<ImageFormat>& reads) {
  std::string formats;
  for (const ImageFormat format : reads)
    formats += fmt::format("{}\"{}\"", formats.empty() ? "" : ",", name_of(format));
  fmt::print("{{\"library\":\"{}\",\"version\":\"{}\",\"reads\":[{}]}}\n", name, version, formats);
}

}  // namespace

void print_versions() {
  std::vector<ImageFormat> vips_reads;
  if (VIPS_INIT("millrace-decoder") == 0) {
    struct Loader {
      const char* operation;
      ImageFormat format;
    };
    // A loader that a distribution leaves out, or ships as a module that is not installed, has no type.
    for (const auto& [operation, format] :
         {Loader{"webpload_source", ImageFormat::webp}, Loader{"tiffload_source", ImageFormat::tiff},
          Loader{"heifload_source", ImageFormat::heif}, Loader{"jxlload_source", ImageFormat::jxl},
          Loader{"jp2kload_source", ImageFormat::jp2}}) {
      if (vips_type_find("VipsOperation", operation) != 0) vips_reads.push_back(format);
    }
  }
  print_library("libvips", fmt::format("{}.{}.{}", vips_version(0), vips_version(1), vips_version(2)), vips_reads);
  // The text looks like "0.20.2-Release".
  const std::string raw_version = LibRaw::version();
  print_library("LibRaw", raw_version.substr(0, raw_version.find('-')), {ImageFormat::raw});
  print_library("Millrace", version(), {ImageFormat::bmp, ImageFormat::pnm});
  print_library("giflib", fmt::format("{}.{}.{}", GIFLIB_MAJOR, GIFLIB_MINOR, GIFLIB_RELEASE), {ImageFormat::gif});
}

void print_sandbox_layer(const SandboxLayer& layer) {
  fmt::print("{{\"wall\":\"{}\",\"stands\":{},\"how\":\"{}\"}}\n", layer.name, layer.is_active, layer.how);
}

}  // namespace millrace::helper
