#include "src/jobs/dedupe/suggest/pair_comparator.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "src/io/image/fingerprint.h"
#include "src/io/image/jpeg_resaved.h"
#include "src/io/image/pixels_hash.h"
#include "src/io/image/provenance.h"
#include "src/jobs/dedupe/match/crop_comparison.h"
#include "src/jobs/dedupe/scan/searched_picture.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/memory/object_pool.h"

namespace millrace::dedupe {
// Pairs with one picture in common, which is decoded once.
struct FilePairComparator::OtherPicture {
  std::uint32_t picture;
  Orientation orientation = Orientation::upright;  // of the picture with the higher index
  std::array<float, 6> meeting{};                  // transform from the lower index to the higher
  Comparison comparison;
  UnshownData unshown{};  // content that this check found and does not show
};
struct FilePairComparator::Task {
  std::uint32_t anchor;
  std::vector<OtherPicture> others;
  UnshownData unshown{};  // of the keeper
};

FilePairComparator::FilePairComparator(const DedupeOptions& options, const Library& library, Catalog& catalog,
                                       RunContext& context)
    : options_(options), library_(library), catalog_(catalog), context_(context) {}

const Comparison* FilePairComparator::find(std::uint32_t a, std::uint32_t b) const {
  const auto at = known_.find({std::min(a, b), std::max(a, b)});
  return at == known_.end() ? nullptr : &at->second;
}

FilePairComparator::Colours FilePairComparator::read_color_profile(std::uint32_t picture) {
  const auto [at, fresh] = colours_.try_emplace(picture);
  if (!fresh) return at->second;
  const auto kept = catalog_.origin(library_.pictures[picture].data.content);
  const auto origin = kept ? decode_origin(*kept) : std::nullopt;
  if (!origin) return at->second;
  const auto& extra_data = origin->provenance.extra_data;
  const auto profile = std::find_if(extra_data.begin(), extra_data.end(),
                                    [](const ExtraData& item) { return item.what == ExtraDataKind::profile; });
  at->second.known = true;
  if (profile != extra_data.end()) at->second.profile = *profile;
  return at->second;
}

bool FilePairComparator::have_same_profile(std::uint32_t a, std::uint32_t b) const {
  const Colours &one = colours_.at(a), &other = colours_.at(b);
  if (one.profile && one.profile->hash == 0) return false;
  return one.profile == other.profile;
}

struct CheckedPicture {
  detailed_check::PreparedPicture picture;
  UnshownData unshown;
  std::string path;
};

namespace {

// Decodes the upright picture; nullopt if none of its files decodes completely any more.
std::optional<CheckedPicture> decode_upright(const Library& library, std::uint32_t picture,
                                             const DedupeOptions& options, RunContext& context, Span& span) {
  const LibraryPicture& p = library.pictures[picture];
  for (const std::uint32_t f : p.files) {
    const FileEntry& entry = library.files[f].entry;
    auto print = decode_searched_picture({entry.path, entry.size, entry.mtime_ns, p.data.width, p.data.height},
                                         detailed_check::kRasterSide, options.files, context, span);
    if (!print) continue;
    detailed_check::PictureRaster out;
    out.width = print->thumbnail.width;
    out.height = print->thumbnail.height;
    out.rgb = std::move(print->thumbnail.rgb);
    out.full_width = p.data.width;
    out.full_height = p.data.height;
    return CheckedPicture{detailed_check::PreparedPicture(std::move(out)), print->unshown, entry.path};
  }
  return std::nullopt;
}

// Converts the colours to sRGB if the profile is supported; nullopt if the profile cannot be read.
std::optional<detailed_check::PreparedPicture> convert_to_srgb(const CheckedPicture& seen) {
  const auto to_srgb = millrace::read_color_profile(seen.path);
  if (!to_srgb) return std::nullopt;
  detailed_check::PictureRaster raster = seen.picture.raster();
  if (*to_srgb) (*to_srgb)->apply(raster.rgb);
  return detailed_check::PreparedPicture(std::move(raster));
}

}  // namespace

// True if `one` has less than half the bytes of `other` in the same format. Strong compression makes lines look sharp,
// so sharpness of such a picture does not count.
bool FilePairComparator::is_compressed_more(const LibraryPicture& one, const LibraryPicture& other) const {
  const auto bytes = [&](const LibraryPicture& picture) { return library_.files[picture.files[0]].entry.size; };
  return one.data.format == other.data.format && 2 * bytes(one) < bytes(other);
}

// Skips pictures of a camera: other signs tell which of them is nearer to what the camera wrote.
void FilePairComparator::detect_resave(std::uint32_t first, std::uint32_t second, Comparison& comparison) const {
  const LibraryPicture &a = library_.pictures[first], &b = library_.pictures[second];
  for (const LibraryPicture* picture : {&a, &b}) {
    if (static_cast<ImageFormat>(picture->data.format) != ImageFormat::jpeg || !picture->data.camera.empty()) return;
  }
  const FileEntry &one = library_.files[a.files[0]].entry, &other = library_.files[b.files[0]].entry;
  const bool first_is_larger = one.size > other.size;
  const FileEntry &large = first_is_larger ? one : other, &small = first_is_larger ? other : one;
  if (!is_resaved(large.path, small.path, decode_options(options_.files, context_), context_.budget)) return;
  (first_is_larger ? comparison.first_saved_again : comparison.second_saved_again) = true;
}

bool FilePairComparator::have_same_pixels(std::uint32_t a, std::uint32_t b) const {
  const DecodeOptions decoding = decode_options(options_.files, context_);
  const auto hash = [&](std::uint32_t picture) {
    return hash_pixels(library_.files[library_.pictures[picture].files[0]].entry.path, decoding, context_.budget);
  };
  const auto one = hash(a), other = hash(b);
  return one && other && *one == *other;
}

void FilePairComparator::compare_task(Task& task, detailed_check::DetailedComparator& detailed_comparator,
                                      Span& span) const {
  const auto anchor = decode_upright(library_, task.anchor, options_, context_, span);
  for (OtherPicture& other : task.others) {
    if (!anchor || context_.cancel.cancelled()) return;
    const auto picture = decode_upright(library_, other.picture, options_, context_, span);
    if (!picture) continue;
    task.unshown = anchor->unshown;
    other.unshown = picture->unshown;
    compare_pair(task.anchor, other, *anchor, *picture, detailed_comparator);
  }
}

// Compares the anchor of a task with another picture of it, both decoded.
void FilePairComparator::compare_pair(std::uint32_t anchor, OtherPicture& other, const CheckedPicture& anchor_picture,
                                      const CheckedPicture& other_picture,
                                      detailed_check::DetailedComparator& detailed_comparator) const {
  const bool leads = anchor < other.picture;
  const CheckedPicture &lower = leads ? anchor_picture : other_picture,
                       &higher = leads ? other_picture : anchor_picture;
  Comparison& comparison = other.comparison;
  comparison.seen = true;
  comparison.in_srgb = colours_.at(anchor).known && colours_.at(other.picture).known;
  // Two files may differ in content that is not compared.
  const bool first_shows_less = lower.unshown.any(), second_shows_less = higher.unshown.any();
  const bool another = lower.unshown.is_another_picture() || higher.unshown.is_another_picture();
  comparison.one_shows_all = first_shows_less != second_shows_less;
  if (another || (first_shows_less && second_shows_less)) return;
  // Pictures of one profile are compared by their values, so colours that sRGB lacks are distinguished.
  const bool one_profile = have_same_profile(anchor, other.picture);
  const bool one_size = lower.picture.raster().full_width == higher.picture.raster().full_width &&
                        lower.picture.raster().full_height == higher.picture.raster().full_height;
  if (!one_profile && one_size && lower.picture.raster().rgb == higher.picture.raster().rgb) {
    // The values are equal, but mean other colours.
    comparison.kind = detailed_check::DifferenceKind::toned;
    return;
  }
  std::optional<detailed_check::PreparedPicture> lower_in_srgb, higher_in_srgb, by_turning;
  if (!one_profile) {
    lower_in_srgb = convert_to_srgb(lower);
    higher_in_srgb = convert_to_srgb(higher);
    if (!lower_in_srgb || !higher_in_srgb) comparison.seen = false;
    if (!comparison.seen) return;
  }
  const detailed_check::PreparedPicture& first = lower_in_srgb ? *lower_in_srgb : lower.picture;
  const detailed_check::PreparedPicture& second_upright = higher_in_srgb ? *higher_in_srgb : higher.picture;
  if (other.orientation != Orientation::upright) by_turning = second_upright.turned(other.orientation);
  const detailed_check::PreparedPicture& second = by_turning ? *by_turning : second_upright;
  const detailed_check::PictureRaster &one = first.raster(), &two = second.raster();
  if (one_profile && other.orientation == Orientation::upright && one_size && !comparison.one_shows_all &&
      one.rgb == two.rgb) {
    comparison.same_pixels = have_same_pixels(anchor, other.picture);
  }
  if (comparison.same_pixels) {
    comparison.kind = detailed_check::DifferenceKind::same;
    comparison.contained = detailed_check::Containment::both;
    comparison.scale = 1;
    return;
  }
  const std::uint32_t first_index = std::min(anchor, other.picture), second_index = std::max(anchor, other.picture);
  const LibraryPicture &first_picture = library_.pictures[first_index],
                       &second_picture = library_.pictures[second_index];
  const detailed_check::Verdict verdict = detailed_comparator.compare(first, second, other.meeting);
  comparison.kind = verdict.kind;
  comparison.contained = verdict.contained;
  comparison.scale = verdict.scale;
  comparison.enlarged = verdict.enlarged;
  comparison.first_sharper = verdict.first_sharper && !is_compressed_more(first_picture, second_picture);
  comparison.second_sharper = verdict.second_sharper && !is_compressed_more(second_picture, first_picture);
  comparison.first_framed = verdict.first_framed;
  comparison.second_framed = verdict.second_framed;
  comparison.first_place = verdict.first_place;
  comparison.second_place = verdict.second_place;
  if (comparison.kind == detailed_check::DifferenceKind::same &&
      comparison.contained == detailed_check::Containment::both && one_size && !by_turning)
    detect_resave(first_index, second_index, comparison);
  // Such pairs are b and d, the flags of two countries, or arrows to the left and to the right.
  if (by_turning && comparison.kind == detailed_check::DifferenceKind::same && first.is_drawing() &&
      second.is_drawing()) {
    comparison.kind = detailed_check::DifferenceKind::altered;
    comparison.contained = detailed_check::Containment::neither;
    comparison.first_place = comparison.second_place = {0, 0, 1, 1};
  }
  // An interrupted check does not count, and is done again.
  if (context_.cancel.cancelled()) comparison.seen = false;
}

// Adds newly found content to the picture's row. A search decodes as few pixels as it needs, and single transparent
// pixels vanish among them.
void FilePairComparator::record_unshown_content(std::uint32_t picture, const UnshownData& met) {
  const CatalogPicture& data = library_.pictures[picture].data;
  if (!data.unshown) return;
  const UnshownData all = UnshownData::from(data.unshown->bits() | met.bits());
  if (all == *data.unshown) return;
  CatalogPicture row = data;
  row.unshown = all;
  catalog_.put(std::move(row), {});
}

void FilePairComparator::check(std::span<const PicturePair> pairs) {
  const TransformKinds wanted{options_.crops, options_.orientations};
  // docs/design/detailed-check.md gives the reasons for the constants of this file.
  constexpr std::size_t kOthers = 16;  // per task: enough to save decoding, few enough to share work evenly
  std::vector<Task> tasks;
  std::size_t fresh = 0;
  for (const auto& [anchor, other] : pairs) {
    const PicturePair key{std::min(anchor, other), std::max(anchor, other)};
    if (anchor == other || known_.count(key) > 0) continue;
    const auto& a = library_.pictures[key.first].data;
    const auto& b = library_.pictures[key.second].data;
    for (const std::uint32_t p : {anchor, other}) read_color_profile(p);
    if (const auto kept = catalog_.comparison(a.content, b.content)) {
      const auto comparison = decode_comparison(*kept);
      const bool in_srgb = comparison && (comparison->in_srgb || have_same_profile(key.first, key.second));
      const bool one_shows_all = a.unshown.value_or(UnshownData{}).any() != b.unshown.value_or(UnshownData{}).any();
      if (in_srgb && comparison->one_shows_all == one_shows_all &&
          (!comparison->searched_crops || *comparison->searched_crops == wanted)) {
        known_.emplace(key, *comparison);
        continue;
      }
    }
    known_.emplace(key, Comparison{});
    OtherPicture next{other, Orientation::upright, {0, 1, 0, 0, 0, 1}, {}};
    // The thumbnails give the transform between the pictures.
    const auto jpeg_a = catalog_.thumbnail(a.thumbnail_digest), jpeg_b = catalog_.thumbnail(b.thumbnail_digest);
    const auto thumbnail = [](const auto& jpeg) {
      return jpeg ? compute_thumbnail_features(*jpeg, {false, false}) : std::nullopt;
    };
    auto first = thumbnail(jpeg_a), second = thumbnail(jpeg_b);
    if (first && second) {
      const PictureRegistration met = find_registration(*first, *second, wanted);
      next.orientation = met.orientation;
      next.meeting = met.map;
      if (met.searched_crops) next.comparison.searched_crops = wanted;
    }
    if (tasks.empty() || tasks.back().anchor != anchor || tasks.back().others.size() == kOthers)
      tasks.push_back({anchor, {}});
    tasks.back().others.push_back(next);
    ++fresh;
  }
  if (tasks.empty()) return;
  Trace::Stage& stage = context_.trace.stage("detailed check", context_.executor.threads(), "--look thumbnail");
  Progress progress(fresh > 20 ? context_.progress : ProgressStyle::none, "checking in detail", fresh);
  {
    ObjectPool<detailed_check::DetailedComparator> detailed_comparators(
        [] { return std::make_unique<detailed_check::DetailedComparator>(); });
    // Reserves memory for as many comparisons as fit into half of the memory that the budget grants, so that decoding
    // has the rest.
    const std::uint64_t each = detailed_check::DetailedComparator::kMemory;
    const std::uint64_t room = context_.budget.largest_grant().count / 2 / each;
    const auto at_once = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(room, 1, static_cast<std::uint64_t>(context_.executor.threads())));
    const Reservation reservation = context_.budget.reserve({each * at_once}, "detailed checks");
    const std::size_t parts = std::min(at_once, tasks.size());
    std::atomic<std::size_t> next{0};
    context_.executor.parallel_for(parts, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t part = from; part < to; ++part) {
        const auto detailed_comparator = detailed_comparators.take();
        Span span(stage);
        for (std::size_t i = next++; i < tasks.size() && !context_.cancel.cancelled(); i = next++) {
          compare_task(tasks[i], *detailed_comparator, span);
          progress.add(tasks[i].others.size());
        }
      }
    });
  }
  context_.helpers.end_idle();
  const bool cancelled = context_.cancel.cancelled();
  for (const Task& task : tasks) {
    for (const OtherPicture& other : task.others) {
      const PicturePair key{std::min(task.anchor, other.picture), std::max(task.anchor, other.picture)};
      known_[key] = other.comparison;
      // A picture that cannot be decoded now may be readable in the next run.
      if (!other.comparison.seen) continue;
      record_unshown_content(task.anchor, task.unshown);
      record_unshown_content(other.picture, other.unshown);
      ++compared_pairs_;
      catalog_.put(encode_for_catalog(library_.pictures[key.first].data.content,
                                      library_.pictures[key.second].data.content, other.comparison));
    }
  }
  if (cancelled) catalog_.flush();
  context_.throw_if_cancelled();
  catalog_.flush_periodically();
}

}  // namespace millrace::dedupe
