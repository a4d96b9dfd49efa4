#include "src/jobs/dedupe/suggest/look_closely.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "src/io/file/reader.h"
#include "src/io/image/fingerprint.h"
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
    std::array<float, 6> meeting{};                  // from the lower to the higher
    CloseLook look;
  };
  std::uint32_t leader;
  std::vector<Other> others;
};

CloseLooks::CloseLooks(const Options& options, const Library& library, Catalog& catalog, RunContext& context)
    : options_(options), library_(library), catalog_(catalog), context_(context) {}

const CloseLook* CloseLooks::find(std::uint32_t a, std::uint32_t b) const {
  const auto at = known_.find({std::min(a, b), std::max(a, b)});
  return at == known_.end() ? nullptr : &at->second;
}

bool CloseLooks::has_own_colours(std::uint32_t picture) {
  const auto [at, fresh] = own_colours_.try_emplace(picture, false);
  if (!fresh) return at->second;
  const auto kept = catalog_.origin(library_.pictures[picture].data.content);
  const auto origin = kept ? origin_from(*kept) : std::nullopt;
  const auto is_profile = [](const Holding& holding) { return holding.what == HoldingKind::profile; };
  return at->second = origin && std::any_of(origin->told.holdings.begin(), origin->told.holdings.end(), is_profile);
}

namespace {

struct Seen {
  closelook::Prepared picture;
  bool hides;             // the file holds more than that
  std::uint64_t numbers;  // hash of what was decoded, whatever colours they mean
};

// The picture, upright, in sRGB's numbers where its profile can be read; nothing where it does not decode whole any
// more.
std::optional<Seen> prepared(const Library& library, std::uint32_t picture, bool own_colours, const Options& options,
                             RunContext& context, Span& span) {
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
    const std::uint64_t numbers = short_hash(out.rgb);
    const auto to_srgb = own_colours ? colours_of(entry.path) : std::nullopt;
    if (to_srgb) to_srgb->apply(out.rgb);
    return Seen{closelook::Prepared(std::move(out)), print->hides, numbers};
  }
  return std::nullopt;
}

}  // namespace

void CloseLooks::look_at(Task& task, closelook::Looker& looker, Span& span) const {
  const auto see = [&](std::uint32_t picture) {
    return prepared(library_, picture, own_colours_.at(picture), options_, context_, span);
  };
  const auto leader = see(task.leader);
  for (Task::Other& other : task.others) {
    if (!leader || context_.cancel.cancelled()) return;
    const auto picture = see(other.picture);
    if (!picture) continue;
    const bool leads = task.leader < other.picture;
    const closelook::Prepared& first = leads ? leader->picture : picture->picture;
    std::optional<closelook::Prepared> by_turning;
    if (other.orientation != Orientation::upright)
      by_turning = (leads ? picture->picture : leader->picture).turned(other.orientation);
    const closelook::Prepared& second = by_turning ? *by_turning : leads ? picture->picture : leader->picture;
    CloseLook& look = other.look;
    look.seen = look.in_srgb = true;
    // Two pages, frames or cut-outs may differ in what nobody looks at.
    if (leader->hides || picture->hides) continue;
    const closelook::Raster &one = first.raster(), &two = second.raster();
    const bool one_place = other.orientation == Orientation::upright && one.full_width == two.full_width &&
                           one.full_height == two.full_height;
    if (one_place && one.rgb != two.rgb && leader->numbers == picture->numbers) {
      // The same numbers, which mean other colours.
      look.kind = closelook::Kind::toned;
      continue;
    }
    if (one_place && one.rgb == two.rgb) {
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
    const closelook::Verdict verdict = looker.compare(first, second, other.meeting);
    look.kind = verdict.kind;
    look.contained = verdict.contained;
    look.scale = verdict.scale;
    look.enlarged = verdict.enlarged;
    look.first_framed = verdict.first_framed;
    look.second_framed = verdict.second_framed;
    look.first_place = verdict.first_place;
    look.second_place = verdict.second_place;
    // What was interrupted is looked at again.
    if (context_.cancel.cancelled()) look.seen = false;
  }
}

void CloseLooks::look(std::span<const PicturePair> pairs) {
  const WantedParts wanted{options_.parts, options_.orientations};
  constexpr std::size_t kOthers = 16;  // of a task: enough to save decoding, few enough to share work evenly
  std::vector<Task> tasks;
  std::size_t fresh = 0;
  for (const auto& [leader, other] : pairs) {
    const PicturePair key{std::min(leader, other), std::max(leader, other)};
    if (leader == other || known_.count(key) > 0) continue;
    const auto& a = library_.pictures[key.first].data;
    const auto& b = library_.pictures[key.second].data;
    if (const auto kept = catalog_.close_look(a.content, b.content)) {
      const auto look = close_look_from(*kept);
      const bool in_srgb = look && (look->in_srgb || (!has_own_colours(key.first) && !has_own_colours(key.second)));
      if (in_srgb && (!look->looked_for || *look->looked_for == wanted)) {
        known_.emplace(key, *look);
        continue;
      }
    }
    known_.emplace(key, CloseLook{});
    for (const std::uint32_t p : {leader, other}) has_own_colours(p);
    Task::Other next{other, Orientation::upright, {0, 1, 0, 0, 0, 1}, {}};
    // Where they meet, by their thumbnails.
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
    // What a comparison takes is paid for as many as there are room for, so that decoding has the rest.
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
      // A picture that cannot be decoded now may be there again at the next run.
      if (!other.look.seen) continue;
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
