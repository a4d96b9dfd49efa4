#include "src/jobs/dedupe/catalog/packed_scores.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace millrace::dedupe {
namespace {

constexpr std::uint8_t kKinds = 16;  // orientation and kind share a byte

template <typename T>
void append(std::vector<std::uint8_t>& out, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(value));
}

template <typename T>
bool take(std::span<const std::uint8_t>& from, T& value) {
  if (from.size() < sizeof(value)) return false;
  std::memcpy(&value, from.data(), sizeof(value));
  from = from.subspan(sizeof(value));
  return true;
}

}  // namespace

std::vector<std::uint8_t> pack_scores(std::vector<CatalogScore>& scores) {
  std::sort(scores.begin(), scores.end(), [](const CatalogScore& x, const CatalogScore& y) {
    return std::tie(x.a, x.b, x.orientation) < std::tie(y.a, y.b, y.orientation);
  });
  std::vector<std::uint8_t> out;
  for (std::size_t begin = 0; begin < scores.size();) {
    std::size_t end = begin;
    while (end < scores.size() && scores[end].a == scores[begin].a) ++end;
    append(out, scores[begin].a);
    append(out, static_cast<std::uint32_t>(end - begin));
    for (; begin < end; ++begin) {
      append(out, scores[begin].b);
      append(out, static_cast<std::uint8_t>(scores[begin].orientation * kKinds + scores[begin].kind));
      append(out, scores[begin].score);
    }
  }
  return out;
}

void unpack_scores(std::span<const std::uint8_t> packed, const std::function<void(const CatalogScore&)>& visit) {
  CatalogScore score;
  std::uint32_t others = 0;
  while (take(packed, score.a) && take(packed, others)) {
    for (; others > 0; --others) {
      std::uint8_t both = 0;
      if (!take(packed, score.b) || !take(packed, both) || !take(packed, score.score)) return;
      score.orientation = both / kKinds;
      score.kind = both % kKinds;
      if (score.a < score.b && is_valid_score(score.score)) visit(score);
    }
  }
}

}  // namespace millrace::dedupe
