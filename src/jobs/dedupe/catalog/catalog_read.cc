#include <climits>

#include "src/io/image/picture.h"
#include "src/jobs/dedupe/catalog/catalog_state.h"
#include "src/jobs/dedupe/catalog/packed_scores.h"

namespace millrace::dedupe {
namespace {

constexpr const char* kPictureColumns =
    "SELECT content, code, reason, damage, format, width, height, quality, codes, taken, subsecond, camera, "
    "exif_fields, look, unshown FROM pictures";

// False for a row that this program cannot have written: its picture is then read again.
bool read_picture(const SqlStatement& row, CatalogPicture& p) {
  if (!row.content(0, p.content)) return false;
  p.failed = !row.is_null(1);
  p.reason = row.text(2);
  p.damage = row.text(3);
  const bool right = p.failed ? row.error_code(1, p.code) && !p.reason.empty() && row.number(4, 0, 255, p.format)
                              : row.number(4, 0, 255, p.format) && row.number(5, 1, kMaxPictureSide, p.width) &&
                                    row.number(6, 1, kMaxPictureSide, p.height) && row.number(7, 0, 100, p.quality) &&
                                    row.number(12, 0, INT_MAX, p.exif_fields);
  if (!right) return false;
  if (const std::string_view codes = row.text(8); codes.size() == sizeof(p.codes)) {
    std::memcpy(p.codes.data(), codes.data(), codes.size());
  } else if (!p.failed) {
    return false;
  }
  p.taken = row.text(9);
  p.subsecond = row.text(10);
  p.camera = row.text(11);
  p.thumbnail_digest = row.word(13);
  unsigned unshown = 0;
  p.unshown.reset();
  if (!row.is_null(14) && row.number(14, 0, UnshownData::kMaxBits, unshown)) p.unshown = UnshownData::from(unshown);
  return true;
}

constexpr const char* kFileColumns = "SELECT path, size, mtime_ns, code, reason, content, inode, ctime_ns FROM files";

// False for a row that this program cannot have written: its file is then read again.
bool read_file(const SqlStatement& row, CatalogFile& file) {
  file.path = row.text(0);
  file.size = static_cast<std::uint64_t>(row.integer(1));
  file.mtime_ns = row.integer(2);
  file.failed = !row.is_null(3);
  file.reason = row.text(4);
  file.inode = row.word(6);
  file.ctime_ns = row.integer(7);
  return file.failed ? row.error_code(3, file.code) && !file.reason.empty() : row.content(5, file.content);
}

}  // namespace

void Catalog::for_each_file(std::string_view from, std::string_view to,
                            const std::function<void(const CatalogFile&)>& visit) {
  SqlConnection s;
  s.open_read_only(*state_);
  SqlStatement row;
  s.prepare(row, fmt::format("{} WHERE path >= ? AND path < ? ORDER BY path", kFileColumns).c_str());
  row.blob(1, from.data(), from.size());
  row.blob(2, to.data(), to.size());
  CatalogFile file;
  while (s.step(row)) {
    if (read_file(row, file)) visit(file);
  }
}

std::optional<CatalogFile> Catalog::file(std::string_view path) {
  State& s = *state_;
  const MutexLock lock(s.query_mutex);
  if (s.file_query.handle == nullptr) {
    if (s.query_connection.db == nullptr) s.query_connection.open_read_only(s);
    s.query_connection.prepare(s.file_query, fmt::format("{} WHERE path = ?", kFileColumns).c_str());
  }
  s.file_query.blob(1, path.data(), path.size());
  std::optional<CatalogFile> out(std::in_place);
  if (!s.query_connection.step(s.file_query) || !read_file(s.file_query, *out)) out.reset();
  sqlite3_reset(s.file_query.handle);
  return out;
}

void Catalog::for_each_size(const std::function<void(std::uint64_t)>& visit) {
  SqlConnection s;
  s.open_read_only(*state_);
  SqlStatement row;
  s.prepare(row, "SELECT size FROM files WHERE code IS NULL");
  while (s.step(row)) visit(static_cast<std::uint64_t>(row.integer(0)));
}

void Catalog::for_each_picture(std::optional<std::span<const ContentHash>> wanted,
                               const std::function<void(CatalogPicture&)>& visit) {
  SqlConnection s;
  s.open_read_only(*state_);
  SqlStatement row;
  s.prepare(row, fmt::format("{} WHERE content >= ? ORDER BY content", kPictureColumns).c_str());
  CatalogPicture picture;
  if (!wanted) {
    row.blob(1, "", 0);
    while (s.step(row)) {
      if (read_picture(row, picture)) visit(picture);
    }
    return;
  }
  // Steps through the rows while the wanted pictures are close together, and seeks anew where they are not.
  constexpr int kFar = 8;
  int passed = kFar;
  ContentHash here{};
  for (std::size_t at = 0; at < wanted->size();) {
    const ContentHash& next = (*wanted)[at];
    if (passed >= kFar) {
      sqlite3_reset(row.handle);
      row.bind_content(1, next);
      passed = 0;
    }
    if (!s.step(row)) return;
    if (!row.content(0, here)) continue;  // not counted: a new seek from the same place would meet it again
    if (here < next) {
      ++passed;
      continue;
    }
    passed = 0;
    while (at < wanted->size() && (*wanted)[at] < here) ++at;
    if (at == wanted->size() || (*wanted)[at] != here) {
      passed = 1;
      continue;
    }
    ++at;
    if (read_picture(row, picture)) visit(picture);
  }
}

std::optional<CatalogPicture> Catalog::picture(const ContentHash& content) {
  State& s = *state_;
  const MutexLock lock(s.query_mutex);
  if (s.picture_query.handle == nullptr) {
    if (s.query_connection.db == nullptr) s.query_connection.open_read_only(s);
    s.query_connection.prepare(s.picture_query, fmt::format("{} WHERE content = ?", kPictureColumns).c_str());
  }
  s.picture_query.bind_content(1, content);
  std::optional<CatalogPicture> out(std::in_place);
  if (!s.query_connection.step(s.picture_query) || !read_picture(s.picture_query, *out)) out.reset();
  sqlite3_reset(s.picture_query.handle);
  return out;
}

std::optional<std::vector<std::uint8_t>> Catalog::thumbnail(std::uint64_t thumbnail_digest) {
  State& s = *state_;
  if (s.thumbnail_query.handle == nullptr) s.prepare(s.thumbnail_query, "SELECT jpeg FROM thumbnails WHERE look = ?");
  s.thumbnail_query.word(1, thumbnail_digest);
  std::optional<std::vector<std::uint8_t>> out;
  if (s.step(s.thumbnail_query)) out = s.thumbnail_query.bytes(0);
  sqlite3_reset(s.thumbnail_query.handle);
  return out;
}

std::optional<std::vector<std::uint8_t>> Catalog::preview(const ContentHash& content) {
  State& s = *state_;
  if (s.preview_query.handle == nullptr) s.prepare(s.preview_query, "SELECT jpeg FROM previews WHERE content = ?");
  s.preview_query.bind_content(1, content);
  std::optional<std::vector<std::uint8_t>> out;
  if (s.step(s.preview_query)) out = s.preview_query.bytes(0);
  sqlite3_reset(s.preview_query.handle);
  return out;
}

std::vector<CatalogScore> Catalog::scores() {
  State& s = *state_;
  SqlStatement row;  // the format of earlier versions
  s.prepare(row, "SELECT a, b, orientation, kind, score FROM scores");
  std::vector<CatalogScore> out;
  while (s.step(row)) {
    CatalogScore score;
    score.a = row.word(0);
    score.b = row.word(1);
    if (!row.number(2, 0, 255, score.orientation) || !row.number(3, 0, 255, score.kind)) continue;
    if (score.a < score.b && row.score(4, score.score)) out.push_back(score);
  }
  SqlStatement packed;
  s.prepare(packed, "SELECT scores FROM packed_scores");
  while (s.step(packed)) {
    const std::string_view bytes = packed.text(0);
    unpack_scores({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                  [&](const CatalogScore& score) { out.push_back(score); });
  }
  return out;
}

std::optional<CatalogComparison> Catalog::comparison(const ContentHash& a, const ContentHash& b) {
  State& s = *state_;
  if (s.comparison_query.handle == nullptr)
    s.prepare(s.comparison_query, "SELECT version, verdict FROM closer_looks WHERE a = ? AND b = ?");
  s.comparison_query.bind_content(1, a);
  s.comparison_query.bind_content(2, b);
  std::optional<CatalogComparison> out;
  if (s.step(s.comparison_query)) {
    CatalogComparison comparison{a, b, 0, s.comparison_query.bytes(1)};
    if (s.comparison_query.number(0, 0, 1'000'000, comparison.version) &&
        comparison.verdict.size() <= CatalogComparison::kMaxBytes)
      out = std::move(comparison);
  }
  sqlite3_reset(s.comparison_query.handle);
  return out;
}

std::optional<CatalogOrigin> Catalog::origin(const ContentHash& content) {
  State& s = *state_;
  if (s.origin_query.handle == nullptr)
    s.prepare(s.origin_query, "SELECT version, told FROM origins WHERE content = ?");
  s.origin_query.bind_content(1, content);
  std::optional<CatalogOrigin> out;
  if (s.step(s.origin_query)) {
    CatalogOrigin origin{content, 0, s.origin_query.bytes(1)};
    if (s.origin_query.number(0, 0, 1'000'000, origin.version) && origin.provenance.size() <= CatalogOrigin::kMaxBytes)
      out = std::move(origin);
  }
  sqlite3_reset(s.origin_query.handle);
  return out;
}

std::vector<std::pair<ContentHash, ContentHash>> Catalog::confirmed_distinct() {
  State& s = *state_;
  SqlStatement row;
  s.prepare(row, "SELECT a, b FROM not_duplicates");
  std::vector<std::pair<ContentHash, ContentHash>> out;
  while (s.step(row)) {
    ContentHash a, b;
    if (row.content(0, a) && row.content(1, b)) out.emplace_back(a, b);
  }
  return out;
}

}  // namespace millrace::dedupe
