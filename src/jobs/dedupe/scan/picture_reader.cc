#include "src/jobs/dedupe/scan/picture_reader.h"

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"
#include "src/kernels/similarity/similarity.h"

namespace millrace::dedupe {
namespace {

CatalogPicture make_catalog_picture(const PictureFingerprint& print, const ContentHash& content) {
  CatalogPicture p;
  p.content = content;
  p.format = static_cast<int>(print.info.format);
  const bool swapped = swaps_sides(print.info.exif.orientation);
  p.width = swapped ? print.info.full_height : print.info.full_width;
  p.height = swapped ? print.info.full_width : print.info.full_height;
  p.quality = print.hashes.quality;
  p.damage = print.damaged ? (print.damage.empty() ? "part of it is missing" : print.damage) : "";
  for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) p.codes[c] = packed64(print.hashes.bits[c]);
  const ThumbnailCodes small = compute_thumbnail_codes(resize_to_square(print.thumbnail, similarity::kSide).data());
  p.codes[4] = small[4];
  p.codes[5] = small[5];
  p.taken = print.info.exif.taken;
  p.subsecond = print.info.exif.subsecond;
  p.camera = print.info.exif.camera;
  p.exif_fields = print.info.exif.fields;
  p.unshown = print.unshown;
  return p;
}

// True for a failure that depends on this run, its limits and its machine rather than on the picture: the next run
// tries again.
bool is_temporary_failure(const CatalogPicture& picture) {
  return picture.failed && (picture.code == ErrorCode::too_large || picture.code == ErrorCode::out_of_memory ||
                            picture.code == ErrorCode::unavailable || picture.code == ErrorCode::timed_out);
}

}  // namespace

void mark_failed(CatalogPicture& picture, const std::string& path, ErrorCode code, const std::string& reason) {
  picture.failed = true;
  picture.code = code;
  picture.reason = reason;
  picture.format = static_cast<int>(has_raw_extension(path) ? ImageFormat::raw : ImageFormat::unknown);
}

bool can_retry_decoding(const CatalogPicture& failed, const std::string& path) {
  return (failed.format == static_cast<int>(ImageFormat::raw)) != has_raw_extension(path);
}

PictureReader::PictureReader(const DedupeOptions& options, RunContext& context) : context_(context) {
  wanted_.hashes = {{kCatalogCodes.begin(), kCatalogCodes.end()}, 8};
  wanted_.upright = true;
  wanted_.thumbnail_side = kThumbnailSide;
  wanted_.content_hash = true;
  wanted_.decode = decode_options(options.files, context);
  wanted_.decode.shortest_side = kMinDecodedSide;
  cancelled_ = [&context] { return context.cancel.cancelled(); };
}

std::unique_ptr<FileReadResult> PictureReader::read(const FileEntry& entry, bool must_be, Span& span) const {
  auto out = std::make_unique<FileReadResult>();
  auto file = FileReader::open(entry.path);
  if (!file) {
    out->error = file.error();
    return out;
  }
  if (must_be && ((*file)->size() != entry.size || (*file)->mtime_ns() != entry.mtime_ns)) {
    out->error = Error{ErrorCode::conflict, "it has changed since it was listed", "", ""};
    return out;
  }
  (*file)->set_cancelled(cancelled_);
  Outcome<PictureFingerprint> print = compute_fingerprint(**file, wanted_, context_.budget, cancelled_, span);
  span.stage().add_bytes((*file)->bytes_read());
  if (!print && (print.error().code == ErrorCode::cancelled || (*file)->failed())) {
    out->error = print.error();
    return out;
  }
  out->has_picture = true;
  if (!print) {
    // The bytes were read and do not decode as a picture; that holds for every copy of them.
    auto content = (*file)->finish_hash();
    if (!content) {
      out->has_picture = false;
      out->error = content.error();
      return out;
    }
    out->content = *content;
    out->picture.content = *content;
    mark_failed(out->picture, entry.path, print.error().code, print.error().what);
    return out;
  }
  out->content = print->content;
  out->picture = make_catalog_picture(*print, print->content);
  out->thumbnail = encode_thumbnail(print->thumbnail, kMaxThumbnailBytes);
  out->picture.thumbnail_digest = compute_thumbnail_digest(out->thumbnail, out->picture.codes);
  return out;
}

CatalogFile make_catalog_file(const FileEntry& entry, const ContentHash& content) {
  return {entry.path, entry.size, entry.mtime_ns, false, {}, "", content, entry.inode, entry.ctime_ns};
}

void store_read_result(Catalog& catalog, const FileEntry& entry, FileReadResult read) {
  CatalogFile record = make_catalog_file(entry, read.content);
  if (read.error) {
    record.failed = true;
    record.code = read.error->code;
    record.reason = read.error->what;
  }
  if (read.has_picture && !is_temporary_failure(read.picture))
    catalog.put(std::move(read.picture), std::move(read.thumbnail));
  // A file that vanished or could not be read may be readable at the next run.
  const auto passes = [&] {
    const ErrorCode code = read.error->code;
    return code == ErrorCode::not_found || code == ErrorCode::io || code == ErrorCode::conflict;
  };
  if (!read.error || !passes()) catalog.put(std::move(record));
  catalog.flush_periodically();
}

LibraryReader::LibraryReader(const DedupeOptions& options, Catalog& catalog, RunContext& context,
                             const std::vector<LibraryFile>& files)
    : options_(options), catalog_(catalog), context_(context), files_(files), pictures_(options, context) {}

std::unique_ptr<FileReadResult> LibraryReader::read(std::size_t index, bool twins, Span& span) {
  const FileEntry& entry = files_[index].entry;
  if (twins) {
    auto out = std::make_unique<FileReadResult>();
    out->file = index;
    auto content = hash_file(entry.path, LinkPolicy::followed, [this] { return context_.cancel.cancelled(); });
    if (!content) {
      out->error = content.error();
      return out;
    }
    out->content = *content;
    span.stage().add_bytes(entry.size);
    if (!claim(out->content, entry.path)) return out;
  }
  auto out = decode(index, span);
  // If two files of one content were read at the same time, only the first result is kept.
  if (!twins && out->has_picture && !out->picture.failed && !claim(out->content, files_[index].entry.path))
    out->has_picture = false;
  return out;
}

std::unique_ptr<FileReadResult> LibraryReader::decode(std::size_t index, Span& span) {
  auto out = pictures_.read(files_[index].entry, !options_.inventory.empty(), span);
  out->file = index;
  return out;
}

std::uint64_t compute_thumbnail_digest(std::vector<std::uint8_t> thumbnail, const ThumbnailCodes& codes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(codes.data());
  thumbnail.insert(thumbnail.end(), first, first + sizeof(codes));
  return short_hash(thumbnail);
}

// True for the first caller with a content that the catalog lacks: that caller decodes it.
bool LibraryReader::claim(const ContentHash& content, const std::string& path) {
  {
    const MutexLock lock(mutex_);
    if (!claimed_.insert(content).second) return false;
  }
  const auto known = catalog_.picture(content);
  return !known || is_read_again(*known, options_) || (known->failed && can_retry_decoding(*known, path));
}

bool is_read_again(const CatalogPicture& picture, const DedupeOptions& options) {
  if (picture.failed) return options.retry;
  return static_cast<long long>(picture.width) * picture.height > options.files.max_pixels;
}

}  // namespace millrace::dedupe
