#include "src/jobs/dedupe/apply/confirmed_distinct.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/operation_names.h"
#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

std::vector<ConfirmedDistinctPair> collect_confirmed_distinct(const Decisions& decisions, ApplyReport& applied) {
  constexpr std::size_t kMaxContents = 4096;
  std::vector<ConfirmedDistinctPair> pairs;
  std::map<std::string, std::vector<ContentHash>> groups;
  for (const Decision& d : decisions.entries) {
    if (d.kind != DecisionKind::confirmed_distinct) continue;
    if (d.with) {
      pairs.emplace_back(std::min(d.hash, *d.with), std::max(d.hash, *d.with));
    } else {
      groups[d.group].push_back(d.hash);
    }
  }
  for (auto& [group, hashes] : groups) {
    std::sort(hashes.begin(), hashes.end());
    std::vector<ContentHash> distinct = hashes;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > kMaxContents) {
      applied.notes.push_back(
          fmt::format("group {}: too many pictures to record as not duplicates ({}; the limit is {})",
                      escape_unprintable(group), group_digits(distinct.size()), group_digits(kMaxContents)));
      continue;
    }
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      // Identical files that are not duplicates share one content, which is paired with itself.
      if (std::count(hashes.begin(), hashes.end(), distinct[i]) > 1) pairs.emplace_back(distinct[i], distinct[i]);
      for (std::size_t k = i + 1; k < distinct.size(); ++k) pairs.emplace_back(distinct[i], distinct[k]);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

void record_confirmed_distinct(const std::vector<ConfirmedDistinctPair>& pairs, const std::string& catalog,
                               const CatalogAccess& access, const Journal& journal, JournalWriter& writer) {
  const std::string path =
      join_path(resolve_folder(folder_of(std::filesystem::absolute(catalog).string())), file_name(catalog));
  Catalog open(path, catalog_key(), access);
  // An undo must not remove pairs that the catalog already had. Pairs that a run noted in the journal before it was cut
  // off are this journal's own.
  std::set<ConfirmedDistinctPair> known;
  for (const ConfirmedDistinctPair& pair : open.confirmed_distinct()) known.insert(pair);
  for (const JournalConfirmedDistinct& confirmed : journal.confirmed_distinct) {
    if (confirmed.catalog == path) known.insert(confirmed.pairs.begin(), confirmed.pairs.end());
  }
  JournalConfirmedDistinct fresh{path, {}};
  for (const ConfirmedDistinctPair& pair : pairs) {
    if (known.count(pair) == 0) fresh.pairs.push_back(pair);
  }
  if (!fresh.pairs.empty()) writer.write_confirmed_distinct(fresh);
  call_step_hook("tell the catalogue");
  for (const auto& [a, b] : pairs) open.put_confirmed_distinct(a, b);
  open.flush();
}

std::uint64_t remove_confirmed_distinct(const Journal& journal, const CatalogAccess& access, JournalWriter* writer) {
  if (journal.confirmed_distinct_forgotten || journal.confirmed_distinct.empty()) return 0;
  std::map<std::string, std::set<ConfirmedDistinctPair>> by_catalog;
  for (const JournalConfirmedDistinct& confirmed : journal.confirmed_distinct)
    by_catalog[confirmed.catalog].insert(confirmed.pairs.begin(), confirmed.pairs.end());
  std::uint64_t count = 0;
  for (const auto& [path, pairs] : by_catalog) {
    count += pairs.size();
    if (writer == nullptr || !exists(path)) continue;  // a missing catalog has no pairs to remove
    // A file that is not a catalog is not turned into one.
    if (!is_catalog(path))
      throw Failure(ErrorCode::bad_data, "this file is no longer a catalog", escape_unprintable(path));
    call_step_hook("take out of the catalogue");
    Catalog open(path, catalog_key(), access);
    for (const auto& [a, b] : pairs) open.drop_confirmed_distinct(a, b);
    open.flush();
  }
  if (writer != nullptr) writer->write_confirmed_distinct_forgotten();
  return count;
}

}  // namespace millrace::dedupe
