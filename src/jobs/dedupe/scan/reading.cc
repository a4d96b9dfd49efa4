#include "src/jobs/dedupe/scan/reading.h"

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"
#include "src/kernels/similarity/similarity.h"

namespace millrace::dedupe {
namespace {

CatalogPicture picture_of(const Fingerprint& print, const ContentHash& content) {
  CatalogPicture p;
  p.content = content;
  p.format = static_cast<int>(print.info.format);
  const bool swapped = swaps_sides(print.info.exif.orientation);
  p.width = swapped ? print.info.full_height : print.info.full_width;
  p.height = swapped ? print.info.full_width : print.info.full_height;
  p.quality = print.hashes.quality;
  p.damage = print.damaged ? (print.damage.empty() ? "part of it is missing" : print.damage) : "";
  for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) p.codes[c] = packed64(print.hashes.bits[c]);
  const ThumbnailCodes small = thumbnail_codes(squeezed(print.thumbnail, similarity::kSide).data());
  p.codes[4] = small[4];
  p.codes[5] = small[5];
  p.taken = print.info.exif.taken;
  p.subsecond = print.info.exif.subsecond;
  p.camera = print.info.exif.camera;
  p.exif_fields = print.info.exif.fields;
  return p;
}

}  // namespace

Reader::Reader(const Options& options, Catalog& catalog, RunContext& context, const std::vector<File>& files)
    : options_(options), catalog_(catalog), context_(context), files_(files) {
  wanted_.hashes = {{kCatalogCodes.begin(), kCatalogCodes.end()}, 8};
  wanted_.upright = true;
  wanted_.thumbnail_side = kThumbnailSide;
  wanted_.content_hash = true;
  wanted_.decode = decode_options(options.files, context);
  wanted_.decode.shortest_side = kShortestSide;
  cancelled_ = [&context] { return context.cancel.cancelled(); };
}

std::unique_ptr<Read> Reader::read(std::size_t index, bool twins, Span& span) {
  auto out = std::make_unique<Read>();
  out->file = index;
  const std::string& path = files_[index].entry.path;
  if (twins) {
    auto content = hash_file(path, Links::followed, cancelled_);
    if (!content) {
      out->error = content.error();
      return out;
    }
    out->content = *content;
    span.stage().add_bytes(files_[index].entry.size);
    if (!claim(out->content)) return out;
  }
  auto file = FileReader::open(path);
  if (!file) {
    out->error = file.error();
    return out;
  }
  (*file)->stop_when(cancelled_);
  Outcome<Fingerprint> print = fingerprint(**file, wanted_, context_.budget, cancelled_, span);
  span.stage().add_bytes((*file)->bytes_read());
  if (!print && (print.error().code == ErrorCode::cancelled || (*file)->failed())) {
    out->error = print.error();
    return out;
  }
  if (!print) {
    // The bytes were read and are not a picture that decodes: true of every copy of them.
    auto content = (*file)->finish_hash();
    if (!content) {
      out->error = content.error();
      return out;
    }
    out->content = *content;
    out->picture.content = *content;
    out->picture.failed = true;
    out->picture.code = print.error().code;
    out->picture.reason = print.error().what;
    out->has_picture = true;
    return out;
  }
  out->content = print->content;
  if (!twins && !claim(out->content)) return out;
  out->picture = picture_of(*print, print->content);
  out->thumbnail = encode_thumbnail(print->thumbnail, kThumbnailBytes);
  out->picture.appearance = appearance_of(out->thumbnail, out->picture.codes);
  out->has_picture = true;
  return out;
}

std::uint64_t appearance_of(std::vector<std::uint8_t> thumbnail, const ThumbnailCodes& codes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(codes.data());
  thumbnail.insert(thumbnail.end(), first, first + sizeof(codes));
  return short_hash(thumbnail);
}

// True for the first who asks for what is not known: that one decodes.
bool Reader::claim(const ContentHash& content) {
  {
    const std::lock_guard lock(mutex_);
    if (!claimed_.insert(content).second) return false;
  }
  const auto known = catalog_.picture(content);
  return !known || is_read_again(*known, options_);
}

bool is_read_again(const CatalogPicture& picture, const Options& options) {
  if (picture.failed) return options.retry;
  return static_cast<long long>(picture.width) * picture.height > options.files.max_pixels;
}

}  // namespace millrace::dedupe
