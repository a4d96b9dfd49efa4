#include "src/jobs/dedupe/apply/not_duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/names.h"
#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

std::vector<NotDuplicatePair> not_duplicate_pairs(const Decisions& decisions, Applied& applied) {
  constexpr std::size_t kMostContents = 4096;
  std::vector<NotDuplicatePair> pairs;
  std::map<std::string, std::vector<ContentHash>> groups;
  for (const Decision& d : decisions.entries) {
    if (d.kind != DecisionKind::not_duplicates) continue;
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
    if (distinct.size() > kMostContents) {
      applied.notes.push_back(fmt::format("group {}: {} contents are too many to be told apart, {} at most",
                                          printable(group), grouped(distinct.size()), grouped(kMostContents)));
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

void remember_not_duplicates(const std::vector<NotDuplicatePair>& pairs, const std::string& catalog,
                             const CatalogAccess& access, const Journal& journal, JournalWriter& writer) {
  const std::string path =
      path_in(canonical(folder_of(std::filesystem::absolute(catalog).string())), file_name(catalog));
  Catalog open(path, catalog_key(), access);
  // An undo must not remove pairs that the catalog already had. Pairs that a run noted in the journal before it was cut
  // off are this journal's own.
  std::set<NotDuplicatePair> known;
  for (const NotDuplicatePair& pair : open.not_duplicates()) known.insert(pair);
  for (const JournalNotDuplicates& told : journal.not_duplicates) {
    if (told.catalog == path) known.insert(told.pairs.begin(), told.pairs.end());
  }
  JournalNotDuplicates fresh{path, {}};
  for (const NotDuplicatePair& pair : pairs) {
    if (known.count(pair) == 0) fresh.pairs.push_back(pair);
  }
  if (!fresh.pairs.empty()) writer.not_duplicates(fresh);
  step("tell the catalogue");
  for (const auto& [a, b] : pairs) open.put_not_duplicates(a, b);
  open.flush();
}

std::uint64_t forget_not_duplicates(const Journal& journal, const CatalogAccess& access, JournalWriter* writer) {
  if (journal.not_duplicates_forgotten || journal.not_duplicates.empty()) return 0;
  std::map<std::string, std::set<NotDuplicatePair>> by_catalog;
  for (const JournalNotDuplicates& told : journal.not_duplicates)
    by_catalog[told.catalog].insert(told.pairs.begin(), told.pairs.end());
  std::uint64_t count = 0;
  for (const auto& [path, pairs] : by_catalog) {
    count += pairs.size();
    if (writer == nullptr || !exists(path)) continue;  // a missing catalog has no pairs to remove
    // A file that is not a catalog is not turned into one.
    if (!is_catalog(path)) throw Failure(ErrorCode::bad_data, "it is no catalogue any more", printable(path));
    step("take out of the catalogue");
    Catalog open(path, catalog_key(), access);
    for (const auto& [a, b] : pairs) open.drop_not_duplicates(a, b);
    open.flush();
  }
  if (writer != nullptr) writer->not_duplicates_forgotten();
  return count;
}

}  // namespace millrace::dedupe
