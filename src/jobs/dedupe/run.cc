#include "src/jobs/dedupe/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/text.h"
#include "src/io/image/picture.h"
#include "src/jobs/dedupe/assets.h"
#include "src/jobs/dedupe/linkage.h"
#include "src/kernels/quality/quality.h"

namespace millrace::dedupe {
namespace {

class Grouping {
 public:
  Grouping(const Options& options, Result& result, Catalog& catalog, RunContext& context)
      : options_(options),
        result_(result),
        library_(result.library),
        catalog_(catalog),
        context_(context),
        judge_(library_, catalog, context),
        criteria_(keep_criteria(options.keep)) {
    for (const auto& [a, b] : catalog.not_duplicates()) apart_.insert({a, b});
  }

  void run() {
    bursts_ = find_bursts(library_, [&](std::uint32_t a, std::uint32_t b) {
      return library_.pictures[a].data.look == library_.pictures[b].data.look ||
             judge_.judgement({std::min(a, b), std::max(a, b), 1}).kind == alike::Kind::same;
    });
    units_ = make_units(library_, bursts_, options_.bursts == "keep-apart");
    std::vector<Candidate> candidates =
        find_candidates(library_, units_, result_.rule, options_.orientations, catalog_, context_);
    result_.candidates = candidates.size();
    const std::vector<Link> links = options_.verify ? verified(candidates) : by_rule(candidates);
    const auto count = static_cast<std::uint32_t>(units_.size());
    const auto grouped_units =
        options_.group == "connected"
            ? connected_groups(count, links)
            : tight_groups(count, links, [&](std::uint32_t a, std::uint32_t b) { return score(a, b); });
    std::vector<std::uint32_t> group_of(units_.size(), kNone);
    for (std::uint32_t g = 0; g < grouped_units.size(); ++g) {
      for (const std::uint32_t u : grouped_units[g]) group_of[u] = g;
      add_group(grouped_units[g]);
    }
    // Units that stand alone may still hold copies.
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      if (group_of[u] == kNone) add_group({u});
    }
    for (const Link& link : links) {
      if (group_of[link.a] != group_of[link.b] || group_of[link.a] == kNone) add_related(link);
    }
    for (const auto& colours : connected_groups(count, recoloured_)) add_informing(colours, GroupKind::recoloured);
    for (const Burst& burst : bursts_) add_burst(burst);
    finish();
  }

 private:
  std::uint32_t picture(std::uint32_t unit) const { return units_[unit].pictures[0]; }
  const CatalogPicture& data(std::uint32_t unit) const { return library_.pictures[picture(unit)].data; }

  // Decided by a person, or different shots of one burst.
  bool kept_apart(std::uint32_t a, std::uint32_t b) const {
    const Unit& ua = units_[a];
    const Unit& ub = units_[b];
    if (ua.burst != kNone && ua.burst == ub.burst && ua.shot != ub.shot) return true;
    if (apart_.empty()) return false;
    for (const std::uint32_t x : ua.pictures) {
      for (const std::uint32_t y : ub.pictures) {
        if (told_apart(x, y)) return true;
      }
    }
    return false;
  }

  bool told_apart(std::uint32_t x, std::uint32_t y) const {
    const ContentHash& a = library_.pictures[x].data.content;
    const ContentHash& b = library_.pictures[y].data.content;
    return apart_.count({std::min(a, b), std::max(a, b)}) > 0;
  }

  std::vector<Link> verified(std::vector<Candidate>& candidates) {
    std::vector<Candidate> pictures;
    for (const Candidate& c : candidates) pictures.push_back({picture(c.a), picture(c.b), c.orientations});
    judge_.look_at(pictures);
    std::vector<Link> links;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& c = candidates[i];
      const Judgement judgement = judge_.judgement(pictures[i]);
      if (judgement.kind == alike::Kind::recoloured) recoloured_.push_back({c.a, c.b, judgement.score});
      if (judgement.kind == alike::Kind::same && !kept_apart(c.a, c.b)) links.push_back({c.a, c.b, judgement.score});
    }
    return links;
  }

  std::vector<Link> by_rule(const std::vector<Candidate>& candidates) {
    std::vector<Link> links;
    for (const Candidate& c : candidates) {
      if (const float s = rule_score(c.a, c.b); s >= 0 && !kept_apart(c.a, c.b)) links.push_back({c.a, c.b, s});
    }
    return links;
  }

  // Without a look at the pixels: 1 less the share of bits that differ; nothing for pictures whose hashes say too
  // little.
  float rule_score(std::uint32_t a, std::uint32_t b) const {
    if (std::min(data(a).quality, data(b).quality) <= kQualityGate) return -1;
    if (!options_.orientations && !holds(result_.rule, data(a), data(b))) return -1;
    const auto bits = distances(data(a), data(b));
    return 1.0F - static_cast<float>(bits[0] + bits[1] + bits[2] + bits[3]) / 256.0F;
  }

  float score(std::uint32_t a, std::uint32_t b) {
    if (kept_apart(a, b)) return -1;
    if (!options_.verify) return rule_score(a, b);
    const auto all = static_cast<std::uint8_t>(options_.orientations ? 255 : 1);
    const Judgement judgement = judge_.judgement({picture(a), picture(b), all});
    return judgement.kind == alike::Kind::same ? judgement.score : -1;
  }

  void add_group(const std::vector<std::uint32_t>& units) {
    std::vector<std::uint32_t> files;
    std::set<ContentHash> contents;
    for (const std::uint32_t u : units) {
      for (const std::uint32_t p : units_[u].pictures) {
        // A copy that a person told apart from its like stays out.
        if (library_.pictures[p].files.size() > 1 && told_apart(p, p)) continue;
        contents.insert(library_.pictures[p].data.content);
        files.insert(files.end(), library_.pictures[p].files.begin(), library_.pictures[p].files.end());
      }
    }
    if (files.size() < 2) return;
    if (std::all_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; })) return;
    Group group;
    group.kind = contents.size() == 1 ? GroupKind::identical : GroupKind::similar;
    group.members = rank_members(library_, files, criteria_);
    add_pairs(group, units);
    for (const Member& m : group.members) {
      if (!m.keep) group.reclaimable += library_.files[m.file].entry.size;
    }
    result_.groups.push_back(std::move(group));
  }

  // The score of every two units, shown between the first members that stand for them.
  void add_pairs(Group& group, const std::vector<std::uint32_t>& units) {
    constexpr std::size_t kMostUnits = 64;  // of a larger group, only the pairs with its first unit
    const auto member_of = [&](std::uint32_t unit) {
      const auto found = std::find_if(group.members.begin(), group.members.end(), [&](const Member& m) {
        const std::uint32_t p = library_.files[m.file].picture;
        return std::find(units_[unit].pictures.begin(), units_[unit].pictures.end(), p) != units_[unit].pictures.end();
      });
      return static_cast<std::uint32_t>(found - group.members.begin());
    };
    std::vector<std::uint32_t> at;
    for (const std::uint32_t u : units) at.push_back(member_of(u));
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (i > 0 && units.size() > kMostUnits) break;
      for (std::size_t j = i + 1; j < units.size(); ++j) {
        if (at[i] >= group.members.size() || at[j] >= group.members.size()) continue;
        const std::uint32_t a = std::min(units[i], units[j]), b = std::max(units[i], units[j]);
        GroupPair pair{std::min(at[i], at[j]), std::max(at[i], at[j]), distances(data(a), data(b)), 0};
        pair.score =
            group.kind == GroupKind::similar || group.kind == GroupKind::related ? std::max(0.0F, score(a, b)) : 0;
        group.pairs.push_back(pair);
      }
    }
    std::sort(group.pairs.begin(), group.pairs.end(),
              [](const GroupPair& x, const GroupPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  }

  // A group that suggests nothing: every member stays.
  void add_informing(const std::vector<std::uint32_t>& units, GroupKind kind) {
    Group group;
    group.kind = kind;
    for (const std::uint32_t u : units) {
      for (const std::uint32_t p : units_[u].pictures) {
        for (const std::uint32_t f : library_.pictures[p].files) group.members.push_back({f, true, ""});
      }
    }
    std::sort(group.members.begin(), group.members.end(),
              [](const Member& a, const Member& b) { return a.file < b.file; });
    if (group.members.size() < 2) return;
    add_pairs(group, units);
    (kind == GroupKind::related ? result_.related : result_.groups).push_back(std::move(group));
  }

  void add_related(const Link& link) { add_informing({link.a, link.b}, GroupKind::related); }

  void add_burst(const Burst& burst) {
    Group group;
    group.kind = GroupKind::burst;
    for (std::size_t i = 0; i < burst.pictures.size(); ++i) {
      for (const std::uint32_t f : library_.pictures[burst.pictures[i]].files) {
        group.members.push_back({f, true, fmt::format("shot {}", burst.shots[i] + 1)});
      }
    }
    result_.groups.push_back(std::move(group));
  }

  std::string id_of(const Group& group) const {
    std::vector<std::string> names;
    for (const Member& m : group.members) {
      const File& file = library_.files[m.file];
      names.push_back(hex_of_bytes(library_.pictures[file.picture].data.content) + file.entry.path);
    }
    std::sort(names.begin(), names.end());
    std::string all = name_of(group.kind);
    for (const std::string& name : names) all += '\0' + name;
    const std::uint64_t hash = short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()});
    return fmt::format("{}-{:012x}", name_of(group.kind), hash >> 16);
  }

  void finish() {
    const auto path_of = [&](const Group& g) -> const std::string& {
      return library_.files[g.members[0].file].entry.path;
    };
    for (auto* list : {&result_.groups, &result_.related}) {
      for (Group& group : *list) group.id = id_of(group);
      std::sort(list->begin(), list->end(), [&](const Group& a, const Group& b) {
        const auto order = [](const Group& g) { return g.kind == GroupKind::identical ? GroupKind::similar : g.kind; };
        if (order(a) != order(b)) return order(a) < order(b);
        if (a.reclaimable != b.reclaimable) return a.reclaimable > b.reclaimable;
        return std::pair(path_of(a), a.id) < std::pair(path_of(b), b.id);
      });
    }
    for (const Group& group : result_.groups) result_.reclaimable += group.reclaimable;
    result_.looked_at = judge_.looked_at();
  }

  const Options& options_;
  Result& result_;
  const Library& library_;
  Catalog& catalog_;
  RunContext& context_;
  Judge judge_;
  const std::vector<std::string> criteria_;
  std::set<std::pair<ContentHash, ContentHash>> apart_;
  std::vector<Burst> bursts_;
  std::vector<Unit> units_;
  std::vector<Link> recoloured_;
};

// Equal hashes are confirmed by the bytes themselves, once, when a copy is first seen. A file whose bytes differ after
// all is left out with the reason: to this program it cannot be told apart from the other.
void confirm_copies(Library& library) {
  for (Picture& picture : library.pictures) {
    if (picture.files.size() < 2) continue;
    const std::string& first = library.files[picture.files[0]].entry.path;
    std::erase_if(picture.files, [&](std::uint32_t f) {
      const File& file = library.files[f];
      if (f == picture.files[0] || (!file.fresh && !library.files[picture.files[0]].fresh)) return false;
      const auto same = same_contents(first, file.entry.path);
      if (same && *same) return false;
      library.unreadable.push_back(
          {file.entry.path,
           same ? "its content hash is that of " + printable(first) + ", its bytes are not" : same.error().what});
      return true;
    });
  }
}

}  // namespace

Result run(const Options& options, Catalog& catalog, RunContext& context) {
  const auto start = Clock::now();
  Result result;
  result.rule = parse_rule(options.match, options.verify);
  result.library = scan(options, catalog, context);
  find_assets(result.library);
  confirm_copies(result.library);
  Grouping(options, result, catalog, context).run();
  catalog.flush();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

std::string plan(const Options& options, Catalog& catalog, RunContext& context) {
  std::vector<std::string> roots = absolute_folders(options.folders);
  for (const std::string& folder : absolute_folders(options.reference)) roots.push_back(folder);
  WalkOptions walking;
  walking.exclude = options.exclude;
  walking.hidden = options.hidden;
  walking.follow_symlinks = options.follow_symlinks;
  const WalkResult found = walk(roots, walking);
  std::set<std::tuple<std::string, std::uint64_t, std::int64_t>> known;
  for (CatalogFile& file : catalog.files()) known.emplace(std::move(file.path), file.size, file.mtime_ns);
  std::uint64_t pictures = 0, fresh = 0, bytes = 0;
  for (const FileEntry& file : found.files) {
    if (!has_picture_extension(file.path) || file.size < options.min_size.count) continue;
    ++pictures;
    if (known.count({file.path, file.size, file.mtime_ns}) > 0) continue;
    ++fresh;
    bytes += file.size;
  }
  // 70 pictures a second and thread is what reduced decoding of camera JPEGs reaches (docs/performance.md).
  return fmt::format(
      "pictures:  {}, of which {} ({}) are new or changed and will be decoded\nrule:      {}\nthreads:   {}\n"
      "memory:    {} at most\ntime:      about {} for the decoding\n",
      grouped(pictures), grouped(fresh), to_text(Bytes{bytes}), parse_rule(options.match, options.verify).text,
      context.executor.threads(), to_text(context.budget.limit()),
      duration_text(static_cast<double>(fresh) / (70.0 * context.executor.threads())));
}

}  // namespace millrace::dedupe
