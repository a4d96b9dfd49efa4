#include "src/jobs/doctor/libraries.h"

// The header jpeglib.h needs FILE.
#include <cstdio>

#include <fmt/format.h>
#include <hwy/highway.h>
#include <jpeglib.h>
#include <libdeflate.h>
#include <oneapi/tbb/version.h>
#include <png.h>
#include <sqlite3.h>
#include <xxhash.h>
#include <zimg.h>
#include <zlib.h>

#include "src/io/store/hdf5_writer.h"
#include "src/jobs/doctor/report.h"

// libjpeg-turbo does not report its version at run time; the build knows the version of its headers.
#define MILLRACE_TEXT_OF(x) #x
#define MILLRACE_EXPANDED_TEXT_OF(x) MILLRACE_TEXT_OF(x)
#ifdef LIBJPEG_TURBO_VERSION
#define MILLRACE_JPEG_VERSION MILLRACE_EXPANDED_TEXT_OF(LIBJPEG_TURBO_VERSION)
#else
#define MILLRACE_JPEG_VERSION "(not libjpeg-turbo: slower)"
#endif

namespace millrace::doctor {

std::string jpeg_library() { return "libjpeg-turbo " MILLRACE_JPEG_VERSION; }

std::string png_library() { return fmt::format("libpng {} with zlib {}", png_get_libpng_ver(nullptr), zlibVersion()); }

std::vector<LibraryVersion> list_libraries() {
  const unsigned xxhash = XXH_versionNumber();
  unsigned zimg[3] = {};
  zimg_get_version_info(&zimg[0], &zimg[1], &zimg[2]);
  return {
      {"libjpeg-turbo", MILLRACE_JPEG_VERSION, "reads and writes JPEG"},
      {"libpng", png_get_libpng_ver(nullptr), "reads and writes PNG"},
      {"zlib", zlibVersion(), "decompresses PNG, verifies written files"},
      {"libdeflate", LIBDEFLATE_VERSION_STRING, "decompresses tensors"},
      {"SQLite", sqlite3_libversion(), "stores the catalog"},
      {"HDF5", hdf5_version(), "reads series, writes charts"},
      {"oneTBB", TBB_runtime_version(), "runs the threads"},
      {"Highway", fmt::format("{}.{}", HWY_MAJOR, HWY_MINOR), "chooses the vector instructions"},
      {"xxHash", fmt::format("{}.{}.{}", xxhash / 10000, xxhash / 100 % 100, xxhash % 100), "fingerprints files"},
      {"zimg", fmt::format("{}.{}.{}", zimg[0], zimg[1], zimg[2]), "converts the colors of video"},
  };
}

}  // namespace millrace::doctor
