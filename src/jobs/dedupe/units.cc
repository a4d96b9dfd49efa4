#include "src/jobs/dedupe/units.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <compare>
#include <tuple>
#include <unordered_map>

#include "src/io/image/exif.h"

namespace millrace::dedupe {
namespace {

constexpr double kLongestPause = 1.0;
constexpr std::size_t kFewestShots = 3;

// True when the two times are known to differ: whole seconds, or fractions where both have them.
bool times_differ(const CatalogPicture& a, const CatalogPicture& b) {
  if (a.taken != b.taken) return true;
  if (a.subsecond.empty() || b.subsecond.empty()) return false;
  return capture_seconds(a.taken, a.subsecond) != capture_seconds(b.taken, b.subsecond);
}

}  // namespace

std::vector<Burst> find_bursts(const Library& library, const std::function<bool(std::uint32_t, std::uint32_t)>& same) {
  struct Taken {
    std::uint32_t camera;  // numbered as they first occur: only equality matters
    double seconds;
    std::uint32_t picture;
  };
  std::vector<Taken> taken;
  std::unordered_map<std::string_view, std::uint32_t> cameras;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const CatalogPicture& p = library.pictures[i].data;
    if (library.pictures[i].files.empty() || p.camera.empty() || p.taken.empty()) continue;
    const std::uint32_t camera =
        cameras.try_emplace(p.camera, static_cast<std::uint32_t>(cameras.size())).first->second;
    taken.push_back({camera, capture_seconds(p.taken, p.subsecond), i});
  }
  oneapi::tbb::parallel_sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) {
    return std::tie(a.camera, a.seconds, a.picture) < std::tie(b.camera, b.seconds, b.picture);
  });
  std::vector<Burst> bursts;
  for (std::size_t begin = 0; begin < taken.size();) {
    std::size_t end = begin + 1;
    while (end < taken.size() && taken[end].camera == taken[begin].camera &&
           taken[end].seconds - taken[end - 1].seconds <= kLongestPause) {
      ++end;
    }
    if (end - begin >= kFewestShots) {
      Burst burst;
      std::vector<std::vector<std::uint32_t>> shots;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t picture = taken[i].picture;
        int shot = -1;
        // One of a shot must agree with all of it: a copy without sub-seconds agrees with several shots of its second,
        // and must not draw them together.
        for (std::size_t s = 0; s < shots.size() && shot < 0; ++s) {
          const bool agrees = std::none_of(shots[s].begin(), shots[s].end(), [&](std::uint32_t other) {
            return times_differ(library.pictures[picture].data, library.pictures[other].data);
          });
          if (agrees && same(picture, shots[s][0])) shot = static_cast<int>(s);
        }
        if (shot < 0) {
          shot = static_cast<int>(shots.size());
          shots.emplace_back();
        }
        shots[static_cast<std::size_t>(shot)].push_back(picture);
        burst.pictures.push_back(picture);
        burst.shots.push_back(shot);
      }
      if (shots.size() >= kFewestShots) bursts.push_back(std::move(burst));
    }
    begin = end;
  }
  return bursts;
}

std::vector<Unit> make_units(const Library& library, const std::vector<Burst>& bursts, bool bursts_apart,
                             Likeness likeness, const std::set<std::uint32_t>& by_themselves) {
  struct Row {
    std::uint64_t first;  // of what tells it apart; ties are looked into
    std::uint32_t picture, files;
  };
  const bool by_look = likeness == Likeness::looks;
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const Picture& picture = library.pictures[i];
    if (!picture.files.empty())
      rows.push_back(
          {by_look ? picture.data.look : picture.data.codes[0], i, static_cast<std::uint32_t>(picture.files.size())});
  }
  std::vector<std::pair<std::uint32_t, int>> burst_of;
  if (bursts_apart && !bursts.empty()) {
    burst_of.resize(library.pictures.size(), {kNone, 0});
    for (std::uint32_t b = 0; b < bursts.size(); ++b) {
      for (std::size_t i = 0; i < bursts[b].pictures.size(); ++i)
        burst_of[bursts[b].pictures[i]] = {b, bursts[b].shots[i]};
    }
  }
  const auto shot_of = [&](std::uint32_t picture) {
    return burst_of.empty() ? std::pair<std::uint32_t, int>(kNone, 0) : burst_of[picture];
  };
  const auto order = [&](const Row& a, const Row& b) -> std::strong_ordering {
    if (a.first != b.first) return a.first <=> b.first;
    if (!by_look) {
      const auto rest = library.pictures[a.picture].data.codes <=> library.pictures[b.picture].data.codes;
      if (std::is_neq(rest)) return rest;
    }
    const auto shot = shot_of(a.picture) <=> shot_of(b.picture);
    if (std::is_neq(shot) || by_themselves.empty()) return shot;
    const auto own = [&](std::uint32_t picture) { return by_themselves.count(picture) > 0 ? picture + 1 : 0; };
    return own(a.picture) <=> own(b.picture);
  };
  oneapi::tbb::parallel_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto different = order(a, b);
    return std::is_neq(different) ? std::is_lt(different) : a.picture < b.picture;
  });
  std::vector<Unit> units;
  units.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || std::is_neq(order(rows[i - 1], rows[i]))) {
      const auto [burst, shot] = shot_of(rows[i].picture);
      const std::uint64_t look = by_look ? rows[i].first : library.pictures[rows[i].picture].data.look;
      units.push_back({{}, look, 0, burst, shot});
    }
    units.back().pictures.push_back(rows[i].picture);
    units.back().files += rows[i].files;
  }
  return units;
}

}  // namespace millrace::dedupe
