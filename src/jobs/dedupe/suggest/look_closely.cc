#include "src/jobs/dedupe/suggest/look_closely.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "src/io/image/fingerprint.h"
#include "src/io/image/jpeg_resaved.h"
#include "src/io/image/pixels_hash.h"
#include "src/io/image/provenance.h"
#include "src/jobs/dedupe/match/parted_picture.h"
#include "src/jobs/dedupe/scan/searched_picture.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/memory/pool.h"

namespace millrace::dedupe {
// Pairs with one picture in common, which is decoded once.
struct CloseLooks::Task {
  struct Other {
    std::uint32_t picture;
    Orientation orientation = Orientation::upright;  // of the picture with the higher index
    std::array<float, 6> meeting{};                  // transform from the lower index to the higher
    CloseLook look;
    Unshown unshown{};  // content that this check found and does not show
  };
  std::uint32_t leader;
  std::vector<Other> others;
  Unshown unshown{};  // of the leader
};

CloseLooks::CloseLooks(const Options& options, const Library& library, Catalog& catalog, RunContext& context)
    : options_(options), library_(library), catalog_(catalog), context_(context) {}

const CloseLook* CloseLooks::find(std::uint32_t a, std::uint32_t b) const {
  const auto at = known_.find({std::min(a, b), std::max(a, b)});
  return at == known_.end() ? nullptr : &at->second;
}

CloseLooks::Colours CloseLooks::colours_of(std::uint32_t picture) {
  const auto [at, fresh] = colours_.try_emplace(picture);
  if (!fresh) return at->second;
  const auto kept = catalog_.origin(library_.pictures[picture].data.content);
  const auto origin = kept ? origin_from(*kept) : std::nullopt;
  if (!origin) return at->second;
  const auto& holdings = origin->told.holdings;
  const auto profile = std::find_if(holdings.begin(), holdings.end(),
                                    [](const Holding& holding) { return holding.what == HoldingKind::profile; });
  at->second.known = true;
  if (profile != holdings.end()) at->second.profile = *profile;
  return at->second;
}

bool CloseLooks::are_of_one_profile(std::uint32_t a, std::uint32_t b) const {
  const Colours &one = colours_.at(a), &other = colours_.at(b);
  if (one.profile && one.profile->hash == 0) return false;
  return one.profile == other.profile;
}

namespace {

struct Seen {
  closelook::Prepared picture;
  Unshown unshown;
  std::string path;
};

// Decodes the upright picture; nullopt if none of its files decodes completely any more.
std::optional<Seen> prepared(const Library& library, std::uint32_t picture, const Options& options, RunContext& context,
                             Span& span) {
  const Picture& p = library.pictures[picture];
  for (const std::uint32_t f : p.files) {
    const FileEntry& entry = library.files[f].entry;
    auto print = decode_searched({entry.path, entry.size, entry.mtime_ns, p.data.width, p.data.height},
                                 closelook::kRasterSide, options.files, context, span);
    if (!print) continue;
    closelook::Raster out;
    out.width = print->thumbnail.width;
    out.height = print->thumbnail.height;
    out.rgb = std::move(print->thumbnail.rgb);
    out.full_width = p.data.width;
    out.full_height = p.data.height;
    return Seen{closelook::Prepared(std::move(out)), print->unshown, entry.path};
  }
  return std::nullopt;
}

// Converts the colours to sRGB if the profile is supported; nullopt if the profile cannot be read.
std::optional<closelook::Prepared> in_srgb(const Seen& seen) {
  const auto to_srgb = millrace::colours_of(seen.path);
  if (!to_srgb) return std::nullopt;
  closelook::Raster raster = seen.picture.raster();
  if (*to_srgb) (*to_srgb)->apply(raster.rgb);
  return closelook::Prepared(std::move(raster));
}

}  // namespace

// True if `one` has less than half the bytes of `other` in the same format. Strong compression makes lines look sharp,
// so sharpness of such a picture does not count.
bool CloseLooks::is_compressed_more(const Picture& one, const Picture& other) const {
  const auto bytes = [&](const Picture& picture) { return library_.files[picture.files[0]].entry.size; };
  return one.data.format == other.data.format && 2 * bytes(one) < bytes(other);
}

// Skips pictures of a camera: other signs tell which of them is nearer to what the camera wrote.
void CloseLooks::find_saved_again(std::uint32_t first, std::uint32_t second, CloseLook& look) const {
  const Picture &a = library_.pictures[first], &b = library_.pictures[second];
  for (const Picture* picture : {&a, &b}) {
    if (static_cast<ImageFormat>(picture->data.format) != ImageFormat::jpeg || !picture->data.camera.empty()) return;
  }
  const FileEntry &one = library_.files[a.files[0]].entry, &other = library_.files[b.files[0]].entry;
  const bool first_is_larger = one.size > other.size;
  const FileEntry &large = first_is_larger ? one : other, &small = first_is_larger ? other : one;
  if (!is_saved_again(large.path, small.path, decode_options(options_.files, context_), context_.budget)) return;
  (first_is_larger ? look.first_saved_again : look.second_saved_again) = true;
}

void CloseLooks::look_at(Task& task, closelook::Looker& looker, Span& span) const {
  const auto leader = prepared(library_, task.leader, options_, context_, span);
  for (Task::Other& other : task.others) {
    if (!leader || context_.cancel.cancelled()) return;
    const auto picture = prepared(library_, other.picture, options_, context_, span);
    if (!picture) continue;
    task.unshown = leader->unshown;
    other.unshown = picture->unshown;
    const bool leads = task.leader < other.picture;
    const Seen &lower = leads ? *leader : *picture, &higher = leads ? *picture : *leader;
    CloseLook& look = other.look;
    look.seen = true;
    look.in_srgb = colours_.at(task.leader).known && colours_.at(other.picture).known;
    // Two files may differ in content that is not compared.
    const bool first_shows_less = lower.unshown.any(), second_shows_less = higher.unshown.any();
    const bool another = lower.unshown.is_another_picture() || higher.unshown.is_another_picture();
    look.one_shows_all = first_shows_less != second_shows_less;
    if (another || (first_shows_less && second_shows_less)) continue;
    // Pictures of one profile are compared by their values, so colours that sRGB lacks are told apart.
    const bool one_profile = are_of_one_profile(task.leader, other.picture);
    const bool one_size = lower.picture.raster().full_width == higher.picture.raster().full_width &&
                          lower.picture.raster().full_height == higher.picture.raster().full_height;
    if (!one_profile && one_size && lower.picture.raster().rgb == higher.picture.raster().rgb) {
      // The values are equal, but mean other colours.
      look.kind = closelook::Kind::toned;
      continue;
    }
    std::optional<closelook::Prepared> lower_in_srgb, higher_in_srgb, by_turning;
    if (!one_profile) {
      lower_in_srgb = in_srgb(lower);
      higher_in_srgb = in_srgb(higher);
      if (!lower_in_srgb || !higher_in_srgb) look.seen = false;
      if (!look.seen) continue;
    }
    const closelook::Prepared& first = lower_in_srgb ? *lower_in_srgb : lower.picture;
    const closelook::Prepared& second_upright = higher_in_srgb ? *higher_in_srgb : higher.picture;
    if (other.orientation != Orientation::upright) by_turning = second_upright.turned(other.orientation);
    const closelook::Prepared& second = by_turning ? *by_turning : second_upright;
    const closelook::Raster &one = first.raster(), &two = second.raster();
    if (one_profile && other.orientation == Orientation::upright && one_size && !look.one_shows_all &&
        one.rgb == two.rgb) {
      const DecodeOptions decoding = decode_options(options_.files, context_);
      const auto path = [&](std::uint32_t picture) {
        return library_.files[library_.pictures[picture].files[0]].entry.path;
      };
      const auto a = pixels_hash(path(task.leader), decoding, context_.budget),
                 b = pixels_hash(path(other.picture), decoding, context_.budget);
      look.same_pixels = a && b && *a == *b;
    }
    if (look.same_pixels) {
      look.kind = closelook::Kind::same;
      look.contained = closelook::Contained::both;
      look.scale = 1;
      continue;
    }
    const Picture &first_picture = library_.pictures[std::min(task.leader, other.picture)],
                  &second_picture = library_.pictures[std::max(task.leader, other.picture)];
    const closelook::Verdict verdict = looker.compare(first, second, other.meeting);
    look.kind = verdict.kind;
    look.contained = verdict.contained;
    look.scale = verdict.scale;
    look.enlarged = verdict.enlarged;
    look.first_sharper = verdict.first_sharper && !is_compressed_more(first_picture, second_picture);
    look.second_sharper = verdict.second_sharper && !is_compressed_more(second_picture, first_picture);
    look.first_framed = verdict.first_framed;
    look.second_framed = verdict.second_framed;
    look.first_place = verdict.first_place;
    look.second_place = verdict.second_place;
    if (look.kind == closelook::Kind::same && look.contained == closelook::Contained::both && one_size && !by_turning)
      find_saved_again(std::min(task.leader, other.picture), std::max(task.leader, other.picture), look);
    // Such pairs are b and d, the flags of two countries, or arrows to the left and to the right.
    if (by_turning && look.kind == closelook::Kind::same && first.is_drawing() && second.is_drawing()) {
      look.kind = closelook::Kind::altered;
      look.contained = closelook::Contained::neither;
      look.first_place = look.second_place = {0, 0, 1, 1};
    }
    // An interrupted check does not count, and is done again.
    if (context_.cancel.cancelled()) look.seen = false;
  }
}

// Adds newly found content to the picture's row. A search decodes as few pixels as it needs, and single transparent
// pixels vanish among them.
void CloseLooks::note_unshown(std::uint32_t picture, const Unshown& met) {
  const CatalogPicture& data = library_.pictures[picture].data;
  if (!data.unshown) return;
  const Unshown all = Unshown::from(data.unshown->bits() | met.bits());
  if (all == *data.unshown) return;
  CatalogPicture row = data;
  row.unshown = all;
  catalog_.put(std::move(row), {});
}

void CloseLooks::look(std::span<const PicturePair> pairs) {
  const WantedParts wanted{options_.parts, options_.orientations};
  constexpr std::size_t kOthers = 16;  // per task: enough to save decoding, few enough to share work evenly
  std::vector<Task> tasks;
  std::size_t fresh = 0;
  for (const auto& [leader, other] : pairs) {
    const PicturePair key{std::min(leader, other), std::max(leader, other)};
    if (leader == other || known_.count(key) > 0) continue;
    const auto& a = library_.pictures[key.first].data;
    const auto& b = library_.pictures[key.second].data;
    for (const std::uint32_t p : {leader, other}) colours_of(p);
    if (const auto kept = catalog_.close_look(a.content, b.content)) {
      const auto look = close_look_from(*kept);
      const bool in_srgb = look && (look->in_srgb || are_of_one_profile(key.first, key.second));
      const bool one_shows_all = a.unshown.value_or(Unshown{}).any() != b.unshown.value_or(Unshown{}).any();
      if (in_srgb && look->one_shows_all == one_shows_all && (!look->looked_for || *look->looked_for == wanted)) {
        known_.emplace(key, *look);
        continue;
      }
    }
    known_.emplace(key, CloseLook{});
    Task::Other next{other, Orientation::upright, {0, 1, 0, 0, 0, 1}, {}};
    // The thumbnails give the transform between the pictures.
    const auto jpeg_a = catalog_.thumbnail(a.appearance), jpeg_b = catalog_.thumbnail(b.appearance);
    const auto thumbnail = [](const auto& jpeg) { return jpeg ? parted_picture(*jpeg, {false, false}) : std::nullopt; };
    auto first = thumbnail(jpeg_a), second = thumbnail(jpeg_b);
    if (first && second) {
      const Meeting met = meeting_of(*first, *second, wanted);
      next.orientation = met.orientation;
      next.meeting = met.map;
      if (met.looked_for_parts) next.look.looked_for = wanted;
    }
    if (tasks.empty() || tasks.back().leader != leader || tasks.back().others.size() == kOthers)
      tasks.push_back({leader, {}});
    tasks.back().others.push_back(next);
    ++fresh;
  }
  if (tasks.empty()) return;
  Trace::Stage& stage = context_.trace.stage("look closely", context_.executor.threads(), "--look thumbnail");
  Progress progress(fresh > 20 ? context_.progress : ProgressStyle::none, "looking closely", fresh);
  {
    Pool<closelook::Looker> lookers([] { return std::make_unique<closelook::Looker>(); });
    // Reserves memory for as many comparisons as fit into half of the memory that the budget grants, so that decoding
    // has the rest.
    const std::uint64_t each = closelook::Looker::kMemory;
    const std::uint64_t room = context_.budget.largest_grant().count / 2 / each;
    const auto at_once = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(room, 1, static_cast<std::uint64_t>(context_.executor.threads())));
    const Reservation paid = context_.budget.reserve({each * at_once}, "looking closely");
    const std::size_t parts = std::min(at_once, tasks.size());
    std::atomic<std::size_t> next{0};
    context_.executor.parallel_for(parts, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t part = from; part < to; ++part) {
        const auto looker = lookers.take();
        Span span(stage);
        for (std::size_t i = next++; i < tasks.size() && !context_.cancel.cancelled(); i = next++) {
          look_at(tasks[i], *looker, span);
          progress.add(tasks[i].others.size());
        }
      }
    });
  }
  context_.helpers.end_idle();
  const bool cancelled = context_.cancel.cancelled();
  for (const Task& task : tasks) {
    for (const Task::Other& other : task.others) {
      const PicturePair key{std::min(task.leader, other.picture), std::max(task.leader, other.picture)};
      known_[key] = other.look;
      // A picture that cannot be decoded now may be readable in the next run.
      if (!other.look.seen) continue;
      note_unshown(task.leader, task.unshown);
      note_unshown(other.picture, other.unshown);
      ++looked_at_;
      catalog_.put(
          kept_of(library_.pictures[key.first].data.content, library_.pictures[key.second].data.content, other.look));
    }
  }
  if (cancelled) catalog_.flush();
  context_.throw_if_cancelled();
  catalog_.flush_now_and_then();
}

}  // namespace millrace::dedupe
