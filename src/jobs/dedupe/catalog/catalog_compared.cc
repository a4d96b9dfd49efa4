#include <bit>

#include "src/jobs/dedupe/catalog/catalog_state.h"

namespace millrace::dedupe {
namespace {

std::uint64_t sum_of(std::span<const std::uint8_t> bytes) { return bytes.empty() ? 0 : short_hash(bytes); }

// Links come back in another order than they were written, so their checksums are added up.
std::uint64_t sum_of(const CatalogLink& link) {
  const std::array<std::uint64_t, 3> words = {link.a, link.b,
                                              std::uint64_t{std::bit_cast<std::uint32_t>(link.score)} << 8 | link.kind};
  return sum_of({reinterpret_cast<const std::uint8_t*>(words.data()), sizeof words});
}

struct LinkSums {
  std::uint64_t count = 0, sum = 0;
  void add(const CatalogLink& link) {
    ++count;
    sum += sum_of(link);
  }
  bool operator==(const LinkSums&) const = default;
};

// Reads the batches and links of a rule; nullopt if they are not all that was written.
std::optional<ComparedAppearances> read_compared_appearances(SqlConnection& s, std::uint64_t rule) {
  ComparedAppearances out;
  LinkSums put, found;
  SqlStatement parts, links;
  s.prepare(parts,
            "SELECT joined.part, joined.looks, sums.looks, sums.links, sums.links_sum FROM joined LEFT JOIN "
            "joined_sums AS sums ON sums.rule = joined.rule AND sums.part = joined.part WHERE joined.rule = ? "
            "ORDER BY joined.part");
  parts.word(1, rule);
  while (s.step(parts)) {
    if (parts.word(0) != out.parts.size() || parts.is_null(2)) return std::nullopt;
    out.parts.push_back(parts.bytes(1));
    if (sum_of(out.parts.back()) != parts.word(2)) return std::nullopt;
    put.count += parts.word(3);
    put.sum += parts.word(4);
  }
  s.prepare(links, "SELECT a, b, kind, score FROM links WHERE rule = ?");
  links.word(1, rule);
  while (s.step(links)) {
    CatalogLink link;
    link.a = links.word(0);
    link.b = links.word(1);
    if (link.a >= link.b || !links.number(2, 0, 255, link.kind) || !links.score(3, link.score)) return std::nullopt;
    found.add(link);
    out.links.push_back(link);
  }
  if (found != put) return std::nullopt;
  return out;
}

}  // namespace

ComparedAppearances Catalog::compared_appearances(std::uint64_t rule) {
  State& s = *state_;
  s.run("BEGIN");  // reads batches and links in one consistent state
  auto out = read_compared_appearances(s, rule);
  s.run("COMMIT");
  if (out) return *std::move(out);
  // Another run may have seen the damage too, and have written new batches by now.
  s.begin_writing();
  if (!read_compared_appearances(s, rule)) {
    for (const char* table : {"joined", "joined_codes", "joined_sums", "links"}) {
      SqlStatement drop;
      s.prepare(drop, fmt::format("DELETE FROM {} WHERE rule = ?", table).c_str());
      drop.word(1, rule);
      s.write(drop);
    }
  }
  s.run("COMMIT");
  return {};
}

std::vector<std::uint8_t> Catalog::compared_codes(std::uint64_t rule, std::size_t at, std::size_t size) {
  State& s = *state_;
  SqlStatement codes;
  s.prepare(codes,
            "SELECT joined_codes.codes, sums.codes FROM joined_codes JOIN joined_sums AS sums USING (rule, part) "
            "WHERE rule = ? AND part = ? AND length(joined_codes.codes) = ?");
  codes.word(1, rule);
  codes.integer(2, static_cast<std::int64_t>(at));
  codes.integer(3, static_cast<std::int64_t>(size));
  if (!s.step(codes)) return {};
  std::vector<std::uint8_t> out = codes.bytes(0);
  return sum_of(out) == codes.word(1) ? out : std::vector<std::uint8_t>();
}

bool Catalog::put_compared_appearances(std::uint64_t rule, std::size_t at, std::span<const std::uint8_t> part,
                                       std::span<const CatalogLink> links, std::span<const std::uint8_t> codes) {
  State& s = *state_;
  s.begin_writing();
  bool first = false;
  {
    SqlStatement next;
    s.prepare(next, "SELECT count(*) FROM joined WHERE rule = ?");
    next.word(1, rule);
    first = s.step(next) && static_cast<std::uint64_t>(next.integer(0)) == at;
  }
  if (first) {
    SqlStatement compared_appearances, link, sums;
    s.prepare(compared_appearances, "INSERT INTO joined VALUES (?,?,?)");
    compared_appearances.word(1, rule);
    compared_appearances.integer(2, static_cast<std::int64_t>(at));
    compared_appearances.blob(3, part.data(), part.size());
    s.write(compared_appearances);
    if (!codes.empty()) {
      SqlStatement beside;
      s.prepare(beside, "INSERT OR REPLACE INTO joined_codes VALUES (?,?,?)");
      beside.word(1, rule);
      beside.integer(2, static_cast<std::int64_t>(at));
      beside.blob(3, codes.data(), codes.size());
      s.write(beside);
    }
    s.prepare(link, "INSERT OR IGNORE INTO links VALUES (?,?,?,?,?)");
    LinkSums put;
    for (const CatalogLink& v : links) {
      link.word(1, rule);
      link.word(2, v.a);
      link.word(3, v.b);
      link.integer(4, v.kind);
      sqlite3_bind_double(link.handle, 5, static_cast<double>(v.score));
      s.write(link);
      if (sqlite3_changes(s.db) == 1) put.add(v);
    }
    s.prepare(sums, "INSERT OR REPLACE INTO joined_sums VALUES (?,?,?,?,?,?)");
    sums.word(1, rule);
    sums.integer(2, static_cast<std::int64_t>(at));
    sums.word(3, sum_of(part));
    sums.word(4, sum_of(codes));
    sums.word(5, put.count);
    sums.word(6, put.sum);
    s.write(sums);
  }
  s.run("COMMIT");
  return first;
}

}  // namespace millrace::dedupe
