#include "src/jobs/dedupe/apply/cataloged_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/io/image/extra_data.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/suggest/bit_rot.h"
#include "src/jobs/dedupe/suggest/comparison.h"
#include "src/jobs/dedupe/suggest/same_shot.h"

namespace millrace::dedupe {

CatalogedFiles::CatalogedFiles(const std::string& catalog, Trust trust, std::vector<std::string> within,
                               const RunContext& context)
    : path_(catalog), within_(std::move(within)) {
  if (!exists(path_)) return;
  catalog_ = std::make_unique<Catalog>(path_, catalog_key(), make_catalog_access(context, trust));
  for (const auto& [a, b] : catalog_->confirmed_distinct()) confirmed_distinct_.emplace(std::min(a, b), std::max(a, b));
}

bool CatalogedFiles::has_file(const std::string& path, const Decision& decision) const {
  if (!catalog_) return false;
  const auto file = catalog_->file(path);
  return file && !file->failed && file->size == decision.size && file->mtime_ns == decision.mtime_ns &&
         file->content == decision.hash;
}

std::optional<Origin> CatalogedFiles::origin_of(const ContentHash& content) const {
  const auto kept = catalog_->origin(content);
  return kept ? decode_origin(*kept) : std::nullopt;
}

bool CatalogedFiles::is_removable_for(const std::string& gone, const Decision& of_gone, const std::string& stays,
                                      const Decision& of_stays) const {
  if (!catalog_) return false;
  const ContentHash &goes = of_gone.hash, &keeps = of_stays.hash;
  const std::pair pair(std::min(goes, keeps), std::max(goes, keeps));
  const auto kept = confirmed_distinct_.count(pair) > 0 ? std::nullopt : catalog_->comparison(pair.first, pair.second);
  const auto comparison = kept ? decode_comparison(*kept) : std::nullopt;
  if (!comparison || derive_relation(*comparison, keeps < goes) != RelationToKeeper::same) return false;
  const auto picture = catalog_->picture(goes), other = catalog_->picture(keeps);
  if (!picture || !other) return false;
  const auto of_goes = origin_of(goes), of_keeps = origin_of(keeps);
  if (!of_goes || !of_keeps ||
      is_same_shot({gone, *picture, of_goes->provenance}, {stays, *other, of_keeps->provenance}))
    return false;
  if (find_missing_kind(holdings_of(*other, *of_keeps), holdings_of(*picture, *of_goes))) return false;
  const bool keeps_whole = other->damage.empty() && of_keeps->raw_damage.empty();
  if (picture->damage.empty() && !keeps_whole) return false;
  // They were one file once, and no check can tell which of them is damaged.
  if (!comparison->same_pixels && count_differing_bytes(gone, stays)) return false;
  return comparison->same_pixels ||
         compare_exposures(of_goes->provenance, of_keeps->provenance) != ExposureMatch::different;
}

bool CatalogedFiles::is_within(const std::string& path) const {
  return std::any_of(within_.begin(), within_.end(),
                     [&](const std::string& folder) { return is_inside(path, folder); });
}

std::string CatalogedFiles::reason() const {
  return fmt::format("the catalog {} {}: name the catalog of the search with --catalog, or the folder with --within",
                     escape_unprintable(path_),
                     catalog_ ? "has no such file with the size, time and hash of the decision" : "does not exist");
}

}  // namespace millrace::dedupe
