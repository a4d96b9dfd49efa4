// JPEG by libjpeg-turbo, with the default integer DCT and fancy upsampling, as Pillow uses it too.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "src/base/text.h"
#include "src/io/image/cmyk.h"
#include "src/io/image/jpeg_errors.h"
#include "src/io/image/jpeg_luma.h"
#include "src/io/image/picture.h"

#include <jerror.h>

namespace millrace {
namespace {

constexpr int kJpegRowsAtOnce = 16;
// Writers make about ten scans. Each takes a pass over the whole picture, however few bytes it has. A small file with
// thousands of them would keep a processor busy for hours.
constexpr int kMaxScans = 100;
// Sample value that the decoder fills in where a file has no data.
constexpr JSAMPLE kNoData = 128;

struct JpegSource {
  jpeg_source_mgr base;
  FileReader* file;
  bool ended;  // the decoder asked for bytes past the end of the file
};

void on_start(j_decompress_ptr) {}

boolean on_fill(j_decompress_ptr info) {
  auto* source = reinterpret_cast<JpegSource*>(info->src);
  const auto chunk = source->file->next();
  if (chunk.empty()) {
    // An end-of-image marker lets the decoder finish with the data that it has.
    static const JOCTET kEnd[2] = {0xFF, JPEG_EOI};
    source->ended = true;
    source->base.next_input_byte = kEnd;
    source->base.bytes_in_buffer = 2;
    WARNMS(info, JWRN_JPEG_EOF);
    return TRUE;
  }
  source->base.next_input_byte = chunk.data();
  source->base.bytes_in_buffer = chunk.size();
  return TRUE;
}

void on_skip(j_decompress_ptr info, long count) {
  auto* source = reinterpret_cast<JpegSource*>(info->src);
  while (count > static_cast<long>(source->base.bytes_in_buffer)) {
    if (source->ended) return;
    count -= static_cast<long>(source->base.bytes_in_buffer);
    on_fill(info);
  }
  source->base.next_input_byte += count;
  source->base.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void on_end(j_decompress_ptr) {}

// Returns the smallest scale, in eighths, that keeps `shortest` pixels on the shorter side.
unsigned choose_scale(unsigned width, unsigned height, int shortest) {
  if (shortest <= 0) return 8;
  for (const unsigned eighths : {1U, 2U, 4U}) {
    if ((std::min(width, height) * eighths + 7) / 8 >= static_cast<unsigned>(shortest)) return eighths;
  }
  return 8;
}

Bytes decoder_memory(const jpeg_decompress_struct& info) {
  std::uint64_t bytes = std::uint64_t{info.image_width} * 3 * 64 + (1U << 20);
  if (jpeg_has_multiple_scans(const_cast<j_decompress_ptr>(&info)) != 0) {
    // Every coefficient is kept until the last scan.
    for (int c = 0; c < info.num_components; ++c) {
      const jpeg_component_info& component = info.comp_info[c];
      const auto blocks = [](unsigned n, unsigned factor) { return (n + factor - 1) / factor * factor; };
      bytes += std::uint64_t{blocks(component.width_in_blocks, static_cast<unsigned>(component.h_samp_factor))} *
               blocks(component.height_in_blocks, static_cast<unsigned>(component.v_samp_factor)) * DCTSIZE2 *
               sizeof(JCOEF);
    }
  }
  return {bytes};
}

// Holds everything that must outlive a longjmp, outside the frame that calls setjmp.
struct JpegSession {
  jpeg_decompress_struct info{};
  JpegSource source{};
  JpegErrors errors{};
  jpeg_progress_mgr progress{};
  PictureInfo picture;
  std::vector<std::uint8_t> exif;
  bool wants_exif = true;
  std::vector<JSAMPLE> strip;
  std::vector<JSAMPROW> rows;
  unsigned got = 0;  // complete rows in the strip, also when the decoder gave up after them
  std::optional<JpegLuma> luma;
  std::vector<std::uint8_t> rgb;
  ~JpegSession() { jpeg_destroy_decompress(&info); }
};

// Keeps the first EXIF block and skips every other APP1 segment: a hostile file may be full of them.
boolean on_app1(j_decompress_ptr info) {
  auto* s = static_cast<JpegSession*>(info->client_data);
  jpeg_source_mgr& source = *info->src;
  const auto byte = [&]() -> std::uint8_t {
    if (source.bytes_in_buffer == 0) source.fill_input_buffer(info);
    --source.bytes_in_buffer;
    return *source.next_input_byte++;
  };
  const int high = byte();
  int left = (high << 8 | byte()) - 2;
  if (s->wants_exif && left > 6) {
    for (; left > 0; --left) s->exif.push_back(byte());  // never reallocates: the longest segment fits
    const std::string_view data(reinterpret_cast<const char*>(s->exif.data()), s->exif.size());
    s->wants_exif = !data.starts_with(std::string_view("Exif\0\0", 6));
    if (s->wants_exif) s->exif.clear();
  }
  if (left > 0) source.skip_input_data(info, left);
  return TRUE;
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(errors->message, sizeof(errors->message), "more than %d scans", kMaxScans);
  std::longjmp(errors->jump, 1);
}

// Runs one step of libjpeg; false when libjpeg gave up, with the reason in errors.message. No C++ object is created
// between setjmp and the calls that may jump.
bool read_header(JpegSession& s) {
  if (setjmp(s.errors.jump) != 0) return false;
  jpeg_create_decompress(&s.info);
  s.info.src = &s.source.base;
  s.info.client_data = &s;
  s.progress.progress_monitor = on_progress;
  s.info.progress = &s.progress;
  jpeg_set_marker_processor(&s.info, JPEG_APP0 + 1, on_app1);
  jpeg_read_header(&s.info, TRUE);
  return true;
}

bool start(JpegSession& s) {
  if (setjmp(s.errors.jump) != 0) return false;
  jpeg_start_decompress(&s.info);
  return true;
}

// Reads the next rows into the strip; false when the decoder gave up, after s.got complete rows.
bool read_rows(JpegSession& s) {
  s.got = 0;
  if (setjmp(s.errors.jump) != 0) return false;
  while (s.got < kJpegRowsAtOnce && s.info.output_scanline < s.info.output_height) {
    const unsigned n = jpeg_read_scanlines(&s.info, s.rows.data() + s.got, kJpegRowsAtOnce - s.got);
    if (n == 0) break;
    s.got += n;
  }
  return true;
}

// Reads the samples of one strip as they are stored; false when the decoder gave up.
bool read_samples(JpegSession& s, JSAMPIMAGE planes) {
  if (setjmp(s.errors.jump) != 0) return false;
  return jpeg_read_raw_data(&s.info, planes, JpegLuma::kStripRows) > 0;
}

// Result of one decoding step.
struct DecodingStep {
  const JSAMPLE* data = nullptr;
  std::ptrdiff_t pitch = 0;
  unsigned rows = 0;
  bool whole = true;  // the decoder did not give up
  bool empty = true;  // no sample differs from kNoData
};

DecodingStep decode_luma_step(JpegSession& s) {
  DecodingStep step;
  while (step.whole && s.luma->needs_strip()) {
    step.whole = read_samples(s, s.luma->next());
    if (step.whole) s.luma->mark_strip_added();
  }
  const JpegLuma::Rows rows = s.luma->finish();
  step.data = rows.data;
  step.pitch = rows.stride;
  step.rows = static_cast<unsigned>(rows.count);
  step.empty = rows.empty;
  return step;
}

DecodingStep decode_rows_step(JpegSession& s) {
  DecodingStep step;
  const std::size_t pitch = std::size_t{s.info.output_width} * static_cast<std::size_t>(s.info.output_components);
  step.whole = read_rows(s);
  step.data = s.strip.data();
  step.pitch = static_cast<std::ptrdiff_t>(pitch);
  step.rows = s.got;
  step.empty = std::all_of(step.data, step.data + pitch * s.got, [](JSAMPLE v) { return v == kNoData; });
  if (s.info.out_color_space == JCS_CMYK) {
    // Adobe's programs write CMYK inverted, and every reader assumes that all CMYK JPEGs are inverted.
    inverted_cmyk_to_rgb(s.strip.data(), s.rgb.data(), std::size_t{s.info.output_width} * s.got);
    step.data = s.rgb.data();
    step.pitch = 3 * static_cast<std::ptrdiff_t>(s.info.output_width);
  }
  return step;
}

// Chooses the scale, and the colour space that libjpeg writes. Fills in the description of the picture.
void choose_output(JpegSession& s, const DecodeOptions& options) {
  const bool cmyk = s.info.num_components == 4;
  const bool gray = s.info.num_components == 1 || (options.gray && !cmyk && s.info.jpeg_color_space == JCS_YCbCr);
  s.info.out_color_space = gray ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
  const unsigned eighths = choose_scale(s.info.image_width, s.info.image_height, options.shortest_side);
  s.info.scale_num = eighths;
  s.info.scale_denom = 8;
  jpeg_calc_output_dimensions(&s.info);
  if (options.luma && !gray && eighths == 8 && JpegLuma::supports(s.info)) {
    s.info.raw_data_out = TRUE;
    s.luma.emplace(static_cast<int>(s.info.output_width), static_cast<int>(s.info.output_height));
  }

  s.picture.format = ImageFormat::jpeg;
  s.picture.width = static_cast<int>(s.info.output_width);
  s.picture.height = static_cast<int>(s.info.output_height);
  s.picture.full_width = static_cast<int>(s.info.image_width);
  s.picture.full_height = static_cast<int>(s.info.image_height);
  s.picture.channels = gray || s.luma ? 1 : 3;
  s.picture.exact = eighths == 8 && (!options.gray || s.info.num_components == 1);
  s.picture.decoder_memory = decoder_memory(s.info);
  s.picture.exif = parse_exif(s.exif);
}

void allocate_strip(JpegSession& s) {
  const auto width = static_cast<std::size_t>(s.info.output_width);
  const std::size_t pitch = width * static_cast<std::size_t>(s.info.output_components);
  s.strip.resize(pitch * kJpegRowsAtOnce);
  for (std::size_t r = 0; r < kJpegRowsAtOnce; ++r) s.rows.push_back(s.strip.data() + r * pitch);
  if (s.info.out_color_space == JCS_CMYK) s.rgb.resize(3 * width * kJpegRowsAtOnce);
}

}  // namespace

Outcome<DecodeResult> decode_jpeg(FileReader& file, const DecodeOptions& options, RowSink& sink) {
  const auto session = std::make_unique<JpegSession>();
  JpegSession& s = *session;
  s.info.err = s.errors.set_up();
  s.source.file = &file;
  s.source.base = {nullptr, 0, on_start, on_fill, on_skip, jpeg_resync_to_restart, on_end};

  s.exif.reserve(1 << 16);

  const std::string subject = escape_unprintable(file.path());
  const auto broken = [&]() -> Error {
    if (file.failed()) return file.error();
    return {ErrorCode::bad_data, fmt::format("the JPEG cannot be decoded ({})", s.errors.message), subject, ""};
  };
  if (!read_header(s)) return broken();
  // Without a single byte of the picture's data, the decoder would invent a first block.
  if (s.source.base.bytes_in_buffer == 0) on_fill(&s.info);
  if (s.source.ended) return Error{ErrorCode::bad_data, "the file is truncated before its first pixel", subject, ""};
  s.wants_exif = false;
  if (auto done = check_picture_size(s.info.image_width, s.info.image_height, options, subject); !done.ok())
    return done.error();

  if (s.info.num_components == 2 || s.info.num_components > 4) {
    return Error{ErrorCode::unsupported,
                 fmt::format("a JPEG with {} components is not supported", s.info.num_components), subject, ""};
  }
  choose_output(s, options);
  if (options.exif_found && !s.exif.empty()) options.exif_found(s.exif);
  if (auto done = sink.begin(s.picture); !done.ok()) return done.error();
  if (!start(s)) return broken();

  const auto width = static_cast<std::size_t>(s.info.output_width);
  if (!s.luma) allocate_strip(s);
  DecodeResult result;
  unsigned delivered = 0;
  bool whole = true, nothing = true;
  while (whole && delivered < s.info.output_height) {
    const DecodingStep step = s.luma ? decode_luma_step(s) : decode_rows_step(s);
    whole = step.whole;
    nothing = nothing && step.empty;
    if (step.rows > 0) sink.rows(step.data, step.pitch, static_cast<int>(step.rows));
    delivered += step.rows;
  }
  if (file.failed()) return file.error();
  if (nothing && !whole) return broken();
  if (nothing && s.errors.warning[0] != '\0') {
    if (s.source.ended) return Error{ErrorCode::bad_data, "the file is truncated before its first pixel", subject, ""};
    return Error{ErrorCode::bad_data, fmt::format("no pixel of the JPEG can be decoded ({})", s.errors.warning),
                 subject, ""};
  }
  if (delivered < s.info.output_height) {
    // The decoder gave up in the middle. The rest is gray, as a viewer would show it.
    result.damaged = true;
    result.damage = s.errors.message;
    const std::vector<std::uint8_t> blank(static_cast<std::size_t>(s.picture.channels) * width, kNoData);
    for (; delivered < s.info.output_height; ++delivered) sink.rows(blank.data(), 0, 1);
  } else if (s.errors.warning[0] != '\0') {
    result.damaged = true;
    result.damage = s.errors.warning;
  }
  result.info = s.picture;
  return result;
}

}  // namespace millrace
