#include "src/jobs/dedupe/page/previews.h"

#include <algorithm>
#include <set>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/scan/picture_reader.h"
#include "src/jobs/dedupe/scan/searched_picture.h"

namespace millrace::dedupe {
namespace {

constexpr std::size_t kMaxPreviews = 3600;

// Returns an empty vector if no file of the picture decodes any more.
std::vector<std::uint8_t> preview_of(const Library& library, const LibraryPicture& picture,
                                     const DedupeOptions& options, RunContext& context, Span& span) {
  PictureFileOptions files = options.files;
  files.over_gray = true;
  for (const std::uint32_t f : picture.files) {
    const FileEntry& entry = library.files[f].entry;
    const auto print =
        decode_searched_picture({entry.path, entry.size, entry.mtime_ns, picture.data.width, picture.data.height},
                                kPreviewSide, files, context, span);
    if (print) return encode_thumbnail(print->thumbnail, kMaxPreviewBytes);
  }
  return {};
}

// True unless the thumbnail shows all of a small picture. It does not show transparency: transparent pixels may have
// any colour.
bool shows_more_than_thumbnail(const CatalogPicture& picture) {
  const auto format = static_cast<ImageFormat>(picture.format);
  return std::max(picture.width, picture.height) > kThumbnailSide ||
         (format != ImageFormat::jpeg && format != ImageFormat::pnm && format != ImageFormat::raw);
}

}  // namespace

Previews::Previews(const SearchResult& result, const DedupeOptions& options, Catalog& catalog, RunContext& context)
    : catalog_(catalog), side_(kPreviewSide) {
  std::size_t shown = 0;
  std::set<std::uint32_t> pictures;
  for (const auto* list : {&result.groups, &result.related}) {
    for (const Group& group : *list) {
      shown += group.members.size();
      for (const GroupMember& m : group.members) pictures.insert(result.library.files[m.file].picture);
    }
  }
  if (shown > kMaxPreviews) {
    side_ = kThumbnailSide;
    return;
  }
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t p : pictures) {
    const CatalogPicture& data = result.library.pictures[p].data;
    if (shows_more_than_thumbnail(data) && !catalog.preview(data.content)) missing.push_back(p);
  }
  Trace::Stage& stage = context.trace.stage("make previews", context.executor.threads());
  Progress progress(missing.size() > 100 ? context.progress : ProgressStyle::none, "making previews", missing.size());
  constexpr std::size_t kBatch = 256;
  for (std::size_t begin = 0; begin < missing.size(); begin += kBatch) {
    std::vector<CatalogPreview> made(std::min(kBatch, missing.size() - begin));
    context.executor.parallel_for(made.size(), 1, [&](std::size_t from, std::size_t to) {
      Span span(stage);
      for (std::size_t i = from; i < to && !context.cancel.cancelled(); ++i) {
        const LibraryPicture& picture = result.library.pictures[missing[begin + i]];
        made[i] = {picture.data.content, preview_of(result.library, picture, options, context, span)};
        progress.add(1);
      }
    });
    context.throw_if_cancelled();
    std::erase_if(made, [](const CatalogPreview& preview) { return preview.jpeg.empty(); });
    catalog.put_previews(made);
  }
  context.helpers.end_idle();
}

std::string Previews::find_jpeg(const CatalogPicture& picture) const {
  auto jpeg = side_ > kThumbnailSide ? catalog_.preview(picture.content) : std::nullopt;
  if (!jpeg) jpeg = catalog_.thumbnail(picture.thumbnail_digest);
  return jpeg ? std::string(jpeg->begin(), jpeg->end()) : std::string();
}

}  // namespace millrace::dedupe
