#include "src/jobs/dedupe/apply/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/io/image/holding.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/suggest/close_look.h"
#include "src/jobs/dedupe/suggest/one_shot.h"
#include "src/jobs/dedupe/suggest/rot.h"

namespace millrace::dedupe {

KnownFiles::KnownFiles(const std::string& catalog, Trust trust, std::vector<std::string> within,
                       const RunContext& context)
    : path_(catalog), within_(std::move(within)) {
  if (!exists(path_)) return;
  catalog_ = std::make_unique<Catalog>(path_, catalog_key(), access_for(context, trust));
  for (const auto& [a, b] : catalog_->not_duplicates()) not_duplicates_.emplace(std::min(a, b), std::max(a, b));
}

bool KnownFiles::knows(const std::string& path, const Decision& decision) const {
  if (!catalog_) return false;
  const auto file = catalog_->file(path);
  return file && !file->failed && file->size == decision.size && file->mtime_ns == decision.mtime_ns &&
         file->content == decision.hash;
}

std::optional<Origin> KnownFiles::origin_of(const ContentHash& content) const {
  const auto kept = catalog_->origin(content);
  return kept ? origin_from(*kept) : std::nullopt;
}

bool KnownFiles::may_go_for(const std::string& gone, const Decision& of_gone, const std::string& stays,
                            const Decision& of_stays) const {
  if (!catalog_) return false;
  const ContentHash &goes = of_gone.hash, &keeps = of_stays.hash;
  const std::pair pair(std::min(goes, keeps), std::max(goes, keeps));
  const auto kept = not_duplicates_.count(pair) > 0 ? std::nullopt : catalog_->close_look(pair.first, pair.second);
  const auto look = kept ? close_look_from(*kept) : std::nullopt;
  if (!look || standing_of(*look, keeps < goes) != Standing::same) return false;
  const auto picture = catalog_->picture(goes), other = catalog_->picture(keeps);
  if (!picture || !other) return false;
  const auto of_goes = origin_of(goes), of_keeps = origin_of(keeps);
  if (!of_goes || !of_keeps || is_one_shot({gone, *picture, of_goes->told}, {stays, *other, of_keeps->told}))
    return false;
  if (lacks(holdings_of(*other, *of_keeps), holdings_of(*picture, *of_goes))) return false;
  const bool keeps_whole = other->damage.empty() && of_keeps->raw_damage.empty();
  if (picture->damage.empty() && !keeps_whole) return false;
  // They were one file once, and no check can tell which of them is damaged.
  if (!look->same_pixels && few_that_differ(gone, stays)) return false;
  return look->same_pixels || same_shutter(of_goes->told, of_keeps->told) != SameShutter::different;
}

bool KnownFiles::is_within(const std::string& path) const {
  return std::any_of(within_.begin(), within_.end(), [&](const std::string& folder) { return inside(path, folder); });
}

std::string KnownFiles::reason() const {
  return fmt::format("the catalogue {} {}: name the search's own with --catalog, or the folder with --within",
                     printable(path_), catalog_ ? "does not know it as the decision has it" : "is not there");
}

}  // namespace millrace::dedupe
