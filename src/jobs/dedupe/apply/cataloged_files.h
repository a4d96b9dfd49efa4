// Input: the catalog of a search, and the folders that a person named with --within.
// Output: for a decision, whether the search saw the file that it names, in the same state.
// Never: creates a catalog.
//
// A decisions file is untrusted. Only files that the search saw are touched, since its page asked about these. Others
// are touched only in folders that a person names.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/jobs/dedupe/apply/decisions.h"
#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

class CatalogedFiles {
 public:
  // Throws Failure when the catalog cannot be used. A missing catalog has no file.
  CatalogedFiles(const std::string& catalog, Trust trust, std::vector<std::string> within, const RunContext& context);

  // True if the catalog has this path with the decision's size, time and hash.
  bool has_file(const std::string& path, const Decision& decision) const;
  // True if the search checked both in detail and the first is removable in favour of the second. It must show and hold
  // nothing else, must be no RAW file, and must be of the same shot. If it is undamaged, the second must be too. A pair
  // that a person confirmed as different, or of which one is probably a damaged copy of the other, does not qualify.
  bool is_removable_for(const std::string& gone, const Decision& of_gone, const std::string& stays,
                        const Decision& of_stays) const;
  bool is_within(const std::string& path) const;
  // Returns why a file that is not in the catalog is not touched.
  std::string reason() const;

 private:
  std::optional<Origin> origin_of(const ContentHash& content) const;

  std::string path_;
  std::vector<std::string> within_;
  std::unique_ptr<Catalog> catalog_;
  std::set<std::pair<ContentHash, ContentHash>> confirmed_distinct_;  // the lower first
};

}  // namespace millrace::dedupe
