// Camera RAW by LibRaw: the embedded JPEG preview when it is large enough, else the sensor's picture at half size. With
// Job::raw_data the sensor's samples are unpacked as well, because they may be cut or corrupt where the preview is
// whole.
#include <libraw/libraw.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <vips/vips.h>

#include <algorithm>
#include <memory>
#include <string>

#include "src/base/error.h"
#include "src/io/image/helper/decoder.h"

namespace millrace::helper {
namespace {

// Pixels on a preview's shorter side that are enough for every comparison.
constexpr int kPreviewSide = 1000;
// Bytes of LibRaw itself and its tables.
constexpr std::uint64_t kObjectBytes = 8U << 20;

// Converts LibRaw's flip to EXIF's orientation.
int orientation_of(int flip) { return flip == 3 ? 3 : flip == 5 ? 8 : flip == 6 ? 6 : 1; }

struct Mapping {
  void* data = MAP_FAILED;
  std::size_t size = 0;
  ~Mapping() {
    if (data != MAP_FAILED) munmap(data, size);
  }
};

// Faults that LibRaw reports while it unpacks, without stopping.
struct SampleFaults {
  bool cut = false, corrupt = false;
};

// Returns the reason why the sensor's samples are not complete; empty where they are.
std::string describe_damage(int code, const SampleFaults& faults) {
  if (code == LIBRAW_SUCCESS && !faults.cut && !faults.corrupt) return "";
  if (faults.cut || code == LIBRAW_IO_ERROR) return "its RAW data is truncated";
  return "its RAW data is corrupt";
}
// True for an error that says nothing about the data: there was no memory, or this version of LibRaw does not know the
// form.
bool is_internal_error(int code) {
  return code != LIBRAW_SUCCESS && code != LIBRAW_IO_ERROR && code != LIBRAW_DATA_ERROR;
}

// Sends the picture, but not its end. False when the rest is not wanted, after the end was sent.
bool send_rgb(DecoderChannel& channel, DecoderMessage about, const std::uint8_t* pixels, int width, int height,
              int bands, int orientation) {
  about.width = width;
  about.height = height;
  about.channels = bands < 3 ? 1 : 3;
  about.exact = 0;
  about.orientation = orientation;
  if (!channel.begin(about)) return false;
  const bool sent = send_plane(channel, pixels, static_cast<std::size_t>(width) * static_cast<std::size_t>(bands),
                               width, height, about.channels, bands);
  if (!sent) channel.end(true, "cancelled");
  return sent;
}

std::uint64_t samples_of(const LibRaw& raw) {
  return static_cast<std::uint64_t>(raw.imgdata.sizes.raw_width) *
         static_cast<std::uint64_t>(raw.imgdata.sizes.raw_height);
}

// False when there is no preview that is good enough.
bool send_preview(LibRaw& raw, DecoderMessage about, DecoderChannel& channel, const DecodeJob& job,
                  const SampleFaults& faults, int orientation) {
  // The sensor's picture would have half of its side.
  const int half = std::min(about.full_width, about.full_height) / 2;
  const int wanted = std::min(job.shortest_side > 0 ? job.shortest_side : kPreviewSide, std::max(half, 1));
  if (raw.unpack_thumb() != LIBRAW_SUCCESS) return false;
  const libraw_thumbnail_t& thumb = raw.imgdata.thumbnail;
  if (thumb.tformat != LIBRAW_THUMBNAIL_JPEG || thumb.thumb == nullptr) return false;
  if (VIPS_INIT("millrace-decoder") != 0) return false;
  VipsImage* image = nullptr;
  if (vips_jpegload_buffer(thumb.thumb, thumb.tlength, &image, nullptr) != 0) {
    vips_error_clear();
    return false;
  }
  const std::unique_ptr<VipsImage, void (*)(void*)> hold(image, g_object_unref);
  if (std::min(image->Xsize, image->Ysize) < wanted || image->BandFmt != VIPS_FORMAT_UCHAR) return false;
  // Without a colour filter array, each pixel has up to four samples.
  const std::uint64_t samples = job.raw_data ? (raw.imgdata.idata.filters != 0 ? 2 : 8) * samples_of(raw) : 0;
  const std::uint64_t memory = VIPS_IMAGE_SIZEOF_IMAGE(image) * 2 + thumb.tlength + kObjectBytes + samples;
  if (!channel.prepare(image->Xsize, image->Ysize, memory)) return true;
  about.decoder_memory = memory;
  std::size_t size = 0;
  std::unique_ptr<void, void (*)(void*)> pixels(vips_image_write_to_memory(image, &size), g_free);
  if (!pixels) {
    vips_error_clear();
    return false;
  }
  if (!send_rgb(channel, about, static_cast<const std::uint8_t*>(pixels.get()), image->Xsize, image->Ysize,
                image->Bands, orientation))
    return true;
  pixels.reset();
  const int code = job.raw_data ? raw.unpack() : LIBRAW_SUCCESS;
  const std::string damage = job.raw_data ? describe_damage(code, faults) : "";
  if (is_internal_error(code)) {
    const bool memory = code == LIBRAW_UNSUFFICIENT_MEMORY;
    channel.fail(static_cast<int>(memory ? ErrorCode::out_of_memory : ErrorCode::unsupported),
                 std::string("its RAW data cannot be unpacked: ") + libraw_strerror(code));
  } else {
    channel.end(!damage.empty(), damage);
  }
  return true;
}

}  // namespace

void decode_raw(const DecodeJob& job, DecoderChannel& channel) {
  struct stat info {};
  Mapping file;
  if (fstat(job.fd, &info) == 0 && info.st_size > 0) {
    file.size = static_cast<std::size_t>(info.st_size);
    file.data = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, job.fd, 0);
  }
  const auto bad = [&](int code) {
    channel.fail(static_cast<int>(code == LIBRAW_UNSUFFICIENT_MEMORY ? ErrorCode::out_of_memory : ErrorCode::bad_data),
                 libraw_strerror(code));
  };
  if (file.data == MAP_FAILED) return bad(LIBRAW_IO_ERROR);
  // LibRaw's object takes several hundred KiB, too much for the stack.
  const auto raw = std::make_unique<LibRaw>();
  if (const int code = raw->open_buffer(file.data, file.size); code != LIBRAW_SUCCESS) return bad(code);
  DecoderMessage about{};
  about.full_width = raw->imgdata.sizes.width;
  about.full_height = raw->imgdata.sizes.height;
  // The flip is read before user_flip below overwrites it.
  const int orientation = orientation_of(raw->imgdata.sizes.flip);
  SampleFaults faults;
  // Some versions of LibRaw pass the offset in 32 bits.
  const auto note = [](void* into, const char* /*file*/, auto offset) {
    auto* const met = static_cast<SampleFaults*>(into);
    (offset < 0 ? met->cut : met->corrupt) = true;
  };
  raw->set_dataerror_handler(note, &faults);
  if (send_preview(*raw, about, channel, job, faults, orientation)) return;
  // Memory for the sensor's samples of 16 bits, the picture at half size in four channels of 16 bits, and the same in 8
  // bits.
  const std::uint64_t sensor = samples_of(*raw);
  about.decoder_memory = sensor * 2 + sensor * 2 + sensor + kObjectBytes;
  if (!channel.prepare(about.full_width, about.full_height, about.decoder_memory)) return;
  auto& settings = raw->imgdata.params;
  settings.half_size = 1;
  settings.use_camera_wb = 1;
  settings.user_flip = 0;  // the orientation is reported, not applied
  if (const int code = raw->unpack(); code != LIBRAW_SUCCESS) return bad(code);
  if (const int code = raw->dcraw_process(); code != LIBRAW_SUCCESS) return bad(code);
  int code = LIBRAW_SUCCESS;
  libraw_processed_image_t* image = raw->dcraw_make_mem_image(&code);
  if (image == nullptr) return bad(code);
  if (image->bits != 8) {
    channel.fail(static_cast<int>(ErrorCode::unsupported), "its sample format is not supported");
  } else if (send_rgb(channel, about, image->data, image->width, image->height, image->colors, orientation)) {
    const std::string damage = describe_damage(LIBRAW_SUCCESS, faults);
    channel.end(!damage.empty(), damage);
  }
  LibRaw::dcraw_clear_mem(image);
}

}  // namespace millrace::helper
