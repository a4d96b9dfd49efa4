// Input: the catalogue of a search, and folders that a person named with --within.
// Output: for a decision, whether the file that it names is one that the search saw, as it saw it.
// Never: makes a catalogue.
//
// A decision file may be anybody's. What the search saw is what its page asked about; nothing else is touched unless a
// person says where.
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

class KnownFiles {
 public:
  // Failure when the catalogue cannot be used; one that is not there knows nothing.
  KnownFiles(const std::string& catalog, Trust trust, std::vector<std::string> within, const RunContext& context);

  // The catalogue has this path with the decision's size, time and hash.
  bool knows(const std::string& path, const Decision& decision) const;
  // The search looked at both closely, and the one may go for the other: it shows and holds nothing else, is no RAW
  // file and not another press of the shutter, and whole only where the other is; and nobody told them apart.
  bool may_go_for(const std::string& gone, const Decision& of_gone, const std::string& stays,
                  const Decision& of_stays) const;
  bool is_within(const std::string& path) const;
  // Why a file that is not known is not touched.
  std::string reason() const;

 private:
  std::optional<Origin> origin_of(const ContentHash& content) const;

  std::string path_;
  std::vector<std::string> within_;
  std::unique_ptr<Catalog> catalog_;
  std::set<std::pair<ContentHash, ContentHash>> not_duplicates_;  // the lower first
};

}  // namespace millrace::dedupe
