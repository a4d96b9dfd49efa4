#include "src/jobs/dedupe/units.h"

#include <algorithm>
#include <map>
#include <tuple>

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
    std::string camera;
    double seconds;
    std::uint32_t picture;
  };
  std::vector<Taken> taken;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const CatalogPicture& p = library.pictures[i].data;
    if (library.pictures[i].files.empty() || p.camera.empty() || p.taken.empty()) continue;
    taken.push_back({p.camera, capture_seconds(p.taken, p.subsecond), i});
  }
  std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) {
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

std::vector<Unit> make_units(const Library& library, const std::vector<Burst>& bursts, bool bursts_apart) {
  std::vector<std::pair<std::uint32_t, int>> burst_of(library.pictures.size(), {kNone, 0});
  if (bursts_apart) {
    for (std::uint32_t b = 0; b < bursts.size(); ++b) {
      for (std::size_t i = 0; i < bursts[b].pictures.size(); ++i)
        burst_of[bursts[b].pictures[i]] = {b, bursts[b].shots[i]};
    }
  }
  using Key = std::tuple<std::uint64_t, std::array<std::uint64_t, 6>, std::uint32_t, int>;
  std::map<Key, std::size_t> at;
  std::vector<Unit> units;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const Picture& picture = library.pictures[i];
    if (picture.files.empty()) continue;
    const auto [burst, shot] = burst_of[i];
    const auto [found, fresh] = at.try_emplace(Key{picture.data.look, picture.data.codes, burst, shot}, units.size());
    if (fresh) units.push_back({{}, burst, shot});
    units[found->second].pictures.push_back(i);
  }
  return units;
}

}  // namespace millrace::dedupe
