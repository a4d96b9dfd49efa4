#include "src/jobs/dedupe/stages/compared_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/jobs/dedupe/match/packed_codes.h"
#include "src/kernels/crops/crops.h"

namespace millrace::dedupe {
namespace {

static_assert(std::endian::native == std::endian::little, "words in lines are not swapped");

// Bytes per line before base64: a multiple of the size of a record.
constexpr std::size_t kBytesPerLine = 48 * 1024;

struct PackedLink {
  std::uint64_t a = 0, b = 0;
  std::uint32_t kind = 0;
  float score = 0;
};
static_assert(sizeof(PackedLink) == 24 && kBytesPerLine % sizeof(PackedLink) == 0);

template <typename Of>
std::vector<std::uint8_t> pack(const std::vector<Of>& links) {
  std::vector<std::uint8_t> out(links.size() * sizeof(PackedLink));
  for (std::size_t i = 0; i < links.size(); ++i) {
    const PackedLink one{links[i].a, links[i].b, links[i].kind, links[i].score};
    std::memcpy(out.data() + i * sizeof one, &one, sizeof one);
  }
  return out;
}

// Returns false for a record that no two pictures can have.
template <typename Of>
bool unpack(std::string_view bytes, std::vector<Of>& out) {
  if (bytes.size() % sizeof(PackedLink) != 0) return false;
  constexpr std::uint32_t kMaxKinds = 3;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(PackedLink)) {
    PackedLink one;
    std::memcpy(&one, bytes.data() + at, sizeof one);
    if (one.a >= one.b || one.kind >= kMaxKinds || !is_valid_score(one.score)) return false;
    Of& link = out.emplace_back();
    link.a = one.a;
    link.b = one.b;
    link.kind = static_cast<std::uint8_t>(one.kind);
    link.score = one.score;
  }
  return true;
}

void add_lines(std::string& out, const Json& begin, const char* name, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kBytesPerLine) {
    Json line = begin;
    line[name] =
        to_base64({reinterpret_cast<const char*>(bytes.data()) + at, std::min(kBytesPerLine, bytes.size() - at)});
    out += line.dump() + "\n";
  }
}

void append(std::vector<std::uint8_t>& out, std::string_view bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Decodes a member in base64; nullopt if there is none.
std::optional<std::string> bytes_in(const Json& line, const char* name) {
  const auto at = line.find(name);
  return !at || !at->is_string() ? std::nullopt : from_base64(at->get<std::string>());
}

// True if the catalog could hold the batch: rows of words, sorted by the first word, which is a thumbnail digest. There
// is one code per row, or none.
bool is_storable(const ComparedBatch& part) {
  const std::size_t row = part.codes.empty() ? sizeof(PackedCodes) : sizeof(std::uint64_t);
  const std::size_t rows = part.compared_appearances.size() / row;
  if (rows == 0 || part.compared_appearances.size() != rows * row) return false;
  if (!part.codes.empty() && part.codes.size() != rows * sizeof(crops::CropCodes)) return false;
  const auto thumbnail_digest = [&](std::size_t i) {
    std::uint64_t out = 0;
    std::memcpy(&out, part.compared_appearances.data() + i * row, sizeof out);
    return out;
  };
  for (std::size_t i = 1; i < rows; ++i) {
    if (thumbnail_digest(i - 1) >= thumbnail_digest(i)) return false;
  }
  return true;
}

std::uint64_t extend_hash(std::uint64_t hash, std::string_view line) {
  const std::string all = fmt::format("{:016x}{}", hash, line);
  return short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()});
}

}  // namespace

std::string format_lines(const ComparedBatch& part) {
  std::string out;
  if (!part.compared_appearances.empty()) {
    const Json begin = {{"rule", std::to_string(part.rule)}};
    add_lines(out, begin, "joined", part.compared_appearances);
    add_lines(out, begin, "codes", part.codes);
    add_lines(out, begin, "links", pack(part.links));
    Json end = begin;
    end["end"] = {part.compared_appearances.size(), part.codes.size(), part.links.size()};
    out += end.dump() + "\n";
  }
  add_lines(out, Json::object(), "scores", pack(part.scores));
  return out;
}

std::string format_shard_end(std::uint64_t shard, const std::string& lines) {
  std::uint64_t hash = 0;
  for (std::size_t at = 0, end = 0; at < lines.size(); at = end + 1) {
    end = lines.find('\n', at);
    hash = extend_hash(hash, std::string_view(lines).substr(at, end - at));
  }
  return Json{{"shard", shard}, {"xxh3", fmt::format("{:016x}", hash)}}.dump() + "\n";
}

bool ComparedLinesParser::end_part(const Json& counts) {
  if (!begun_ || !is_storable(*begun_) ||
      counts != Json({begun_->compared_appearances.size(), begun_->codes.size(), begun_->links.size()}))
    return false;
  parts_.push_back(*std::move(begun_));
  begun_.reset();
  return true;
}

bool ComparedLinesParser::end_shard(const Json& line) {
  if (begun_ || !line.at("shard").is_number_unsigned() || line.at("shard") != Json(shards_) ||
      line.at("xxh3") != Json(fmt::format("{:016x}", hash_)))
    return false;
  ++shards_;
  hash_ = 0;
  std::move(parts_.begin(), parts_.end(), std::back_inserter(complete_parts_));
  parts_.clear();
  return true;
}

bool ComparedLinesParser::add_to_shard(const Json& line) {
  if (const auto scores = bytes_in(line, "scores")) {
    ComparedBatch part;
    if (begun_ || !unpack(*scores, part.scores)) return false;
    parts_.push_back(std::move(part));
    return true;
  }
  std::uint64_t rule = 0;
  if (!read_number(line.at("rule").get<std::string>(), rule)) return false;
  if (!begun_) begun_.emplace().rule = rule;
  if (begun_->rule != rule) return false;
  if (line.contains("end")) return end_part(line.at("end"));
  if (const auto compared_appearances = bytes_in(line, "joined"))
    return append(begun_->compared_appearances, *compared_appearances), true;
  if (const auto codes = bytes_in(line, "codes")) return append(begun_->codes, *codes), true;
  const auto links = bytes_in(line, "links");
  return links && unpack(*links, begun_->links);
}

bool ComparedLinesParser::add(const std::string& text) {
  try {
    const Json line = Json::parse_or_null(text);
    if (!line.is_object()) return false;
    if (line.contains("shard")) return end_shard(line);
    hash_ = extend_hash(hash_, text);
    return add_to_shard(line);
  } catch (const Json::Error&) {
    return false;
  }
}

}  // namespace millrace::dedupe
