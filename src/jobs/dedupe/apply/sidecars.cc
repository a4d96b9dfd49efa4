#include "src/jobs/dedupe/apply/sidecars.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/image/photo_metadata.h"
#include "src/jobs/dedupe/apply/operation_names.h"
#include "src/jobs/dedupe/scan/companions.h"

namespace millrace::dedupe {
namespace {

const std::string& picture_of(const AssetOperation& asset) { return asset.operations.back().record.path; }

// Returns the metadata of a kept picture. If a sidecar cannot be read, `unread` says why; then no sidecar may be
// written, since it could contradict that one.
Outcome<PhotoMetadata> read_kept_metadata(const AssetOperation::Survivor& picture,
                                          const std::vector<std::string>& companions, std::string& unread) {
  PhotoMetadata out;
  // Metadata in a person's sidecar are newer than those in the picture.
  for (const std::string& companion : companions) {
    const auto metadata = read_sidecar_metadata(companion);
    if (metadata) {
      out.add(*metadata);
    } else {
      unread = fmt::format("{} {}", escape_unprintable(file_name(companion)), metadata.error().what);
    }
  }
  const auto own = read_metadata(picture.path, picture.state);
  if (!own) return own.error();
  out.add(*own);
  return out;
}

class SidecarPlanner {
 public:
  SidecarPlanner(ApplyPlan& plan, const PlanInput& input, ApplyReport& applied)
      : plan_(plan), input_(input), applied_(applied) {
    for (const AssetOperation& asset : plan.assets) {
      for (const Operation& operation : asset.operations)
        next_number_ = std::max(next_number_, operation.record.number + 1);
    }
    next_number_ = std::max(next_number_, input.journal.next_number());
  }

  std::vector<SidecarPlan> run() {
    std::map<std::string, std::vector<std::size_t>> of_picture;  // assets that are removed for each kept picture
    for (std::size_t a = 0; a < plan_.assets.size(); ++a) {
      if (!plan_.assets[a].survivors.empty()) of_picture[plan_.assets[a].survivors[0].path].push_back(a);
    }
    for (const auto& [picture, assets] : of_picture) plan_sidecar(picture, assets);
    drop_left_assets();
    return std::move(out_);
  }

 private:
  // A file whose metadata were taken, and which ones.
  struct MetadataSource {
    std::size_t asset;
    std::string name;
    PhotoMetadata took;
  };

  void plan_sidecar(const std::string& picture, const std::vector<std::size_t>& assets) {
    const AssetOperation::Survivor& stays = plan_.assets[assets[0]].survivors[0];
    const std::vector<std::string> beside = companions_.of(picture).files;
    std::string unread;  // why not all of its sidecars could be read
    const auto own = read_kept_metadata(stays, beside, unread);
    if (!own) {
      for (const std::size_t a : assets) leave(a, own.error().what);
      return;
    }
    const std::string name(escape_unprintable(file_name(picture)));
    PhotoMetadata known = *own, added;
    std::vector<MetadataSource> sources;
    for (const std::size_t a : assets) {
      const auto theirs = read_removed_metadata(plan_.assets[a], stays, beside);
      if (!theirs) {
        leave(a, theirs.error().what);
        continue;
      }
      if (theirs->favourite && !own->favourite) {
        leave(a, "it is a favorite, which a sidecar cannot record");
        continue;
      }
      if (!theirs->unparsed.empty()) {
        leave(a, fmt::format("{} is not understood, so it cannot be copied to a sidecar", theirs->unparsed));
        continue;
      }
      MissingMetadata lacks = find_missing_metadata(known, *theirs);
      PhotoMetadata all = added;
      all.add(lacks.metadata);
      if (all.cut) {
        leave(a, fmt::format("it has more metadata than fits into a sidecar of {}", name));
        continue;
      }
      note_differences(a, *theirs, name, *own, sources);
      if (lacks.metadata.is_empty()) continue;
      known.add(lacks.metadata);
      added = std::move(all);
      sources.push_back(
          {a, std::string(escape_unprintable(file_name(picture_of(plan_.assets[a])))), std::move(lacks.metadata)});
    }
    if (added.is_empty()) return;
    const std::string words = summarize_metadata(added);
    const auto refuse = [&](const std::string& why) {
      for (const MetadataSource& source : sources)
        leave(source.asset, fmt::format("{}, and {} lacks its metadata: {}", why, name, escape_unprintable(words)));
    };
    const bool in_reference =
        stays.reference || std::any_of(input_.references.begin(), input_.references.end(),
                                       [&](const std::string& folder) { return is_inside(picture, folder); });
    if (in_reference) return refuse("nothing is written into a reference folder");
    const std::string path = merged_sidecar_path(picture);
    const auto sidecar =
        std::find_if(beside.begin(), beside.end(), [](const std::string& file) { return extension(file) == "xmp"; });
    if (sidecar != beside.end() || exists(path)) {
      return refuse(fmt::format("{} already exists and is not changed",
                                escape_unprintable(file_name(sidecar != beside.end() ? *sidecar : path))));
    }
    if (!unread.empty()) return refuse(unread);
    SidecarPlan planned;
    planned.text = make_xmp_sidecar(added);
    // A later run could not read a longer one.
    if (planned.text.size() > kMaxSidecarBytes) return refuse("the metadata do not fit into a sidecar");
    planned.like = stays.state;
    planned.record.number = next_number_++;
    planned.record.path = path;
    planned.record.picture = picture;
    planned.record.size = planned.text.size();
    planned.record.hash = content_hash(planned.text);
    std::vector<std::string> from;
    for (const MetadataSource& source : sources) {
      planned.assets.push_back(source.asset);
      from.push_back(source.name);
    }
    ReportItem item;
    item.group = item_of(sources[0].asset).group;
    item.path = path;
    item.main = picture;
    item.size = planned.text.size();
    item.sidecar = true;
    item.reason = fmt::format("{}, copied from {}", words, fmt::join(from, ", "));
    applied_.items.push_back(std::move(item));
    planned.item = applied_.items.size() - 1;
    out_.push_back(std::move(planned));
  }

  // Adds remarks on metadata that differ. Those of the kept picture count, else those of the first removed one.
  void note_differences(std::size_t asset, const PhotoMetadata& theirs, const std::string& stays,
                        const PhotoMetadata& own, const std::vector<MetadataSource>& sources) {
    if (const auto differences = find_missing_metadata(own, theirs).differences; !differences.empty())
      remark(asset, fmt::format("{} keeps its own metadata: {}", stays, fmt::join(differences, ", ")));
    const std::string name(escape_unprintable(file_name(picture_of(plan_.assets[asset]))));
    for (const MetadataSource& source : sources) {
      const auto differences = find_missing_metadata(source.took, theirs).differences;
      if (differences.empty()) continue;
      const std::string words = fmt::format("{}", fmt::join(differences, ", "));
      remark(asset, fmt::format("the metadata of {} are used: {}", source.name, words));
      remark(source.asset, fmt::format("its metadata are used, not those of {}: {}", name, words));
    }
  }

  // Returns an Error with the reason if a removed file has metadata or settings that cannot be written down.
  Outcome<PhotoMetadata> read_removed_metadata(const AssetOperation& asset, const AssetOperation::Survivor& stays,
                                               const std::vector<std::string>& beside) const {
    const auto refused = [](const std::string& file, const std::string& what) {
      return Error{ErrorCode::unsupported, fmt::format("{} {}", escape_unprintable(file_name(file)), what), "", ""};
    };
    const JournalRecord& picture = asset.operations.back().record;
    // A companion that is not a file stays in its place, and then it would be unknown to which picture it belongs.
    for (std::size_t i = asset.operations.back().item; i-- > 0 && applied_.items[i].main == picture.path;) {
      const ReportItem& companion = applied_.items[i];
      if (companion.state == ItemState::left) return refused(companion.path, companion.reason);
    }
    PhotoMetadata out;
    for (const Operation& operation : asset.operations) {
      if (operation.record.main.empty()) continue;
      const std::string& file = operation.record.path;
      const auto metadata = read_sidecar_metadata(file);
      if (!metadata) return refused(file, metadata.error().what);
      if (metadata->developed && !has_copy(file, beside))
        return refused(file, "has develop settings, which cannot be copied to a sidecar");
      out.add(*metadata);
    }
    // Equal bytes have equal metadata.
    if (picture.hash == stays.hash) return out;
    const auto own = read_metadata(picture.path, picture.before);
    if (!own) return own.error();
    if (own->developed) return refused(picture.path, "has develop settings, which cannot be copied to a sidecar");
    out.add(*own);
    return out;
  }

  ReportItem& item_of(std::size_t asset) { return applied_.items[plan_.assets[asset].operations.back().item]; }
  void remark(std::size_t asset, const std::string& words) {
    std::string& reason = item_of(asset).reason;
    reason += (reason.empty() ? "" : "; ") + words;
  }
  void leave(std::size_t asset, const std::string& why) {
    for (const Operation& operation : plan_.assets[asset].operations) {
      applied_.items[operation.item].state = ItemState::left;
      applied_.items[operation.item].to.clear();
      applied_.items[operation.item].reason = why;
    }
    left_.insert(asset);
  }

  // Removes the left assets from the plan, and renumbers the others.
  void drop_left_assets() {
    if (left_.empty()) return;
    std::vector<std::size_t> place(plan_.assets.size(), 0);
    std::vector<AssetOperation> rest;
    for (std::size_t a = 0; a < plan_.assets.size(); ++a) {
      place[a] = rest.size();
      if (left_.count(a) == 0) rest.push_back(std::move(plan_.assets[a]));
    }
    plan_.assets = std::move(rest);
    for (SidecarPlan& planned : out_) {
      std::erase_if(planned.assets, [&](std::size_t a) { return left_.count(a) > 0; });
      for (std::size_t& a : planned.assets) a = place[a];
    }
  }

  ApplyPlan& plan_;
  const PlanInput& input_;
  ApplyReport& applied_;
  CompanionFinder companions_;
  std::vector<SidecarPlan> out_;
  std::set<std::size_t> left_;
  std::uint64_t next_number_ = 1;
};

}  // namespace

std::vector<SidecarPlan> plan_sidecars(ApplyPlan& plan, const PlanInput& input, ApplyReport& applied) {
  // Hard links remove no data.
  if (input.action == Action::hardlink) return {};
  return SidecarPlanner(plan, input, applied).run();
}

void write_sidecar(const SidecarPlan& sidecar, ApplyPlan& plan, const std::string& id, JournalWriter& writer,
                   ApplyReport& applied) {
  const JournalSidecar& record = sidecar.record;
  writer.write_sidecar(record);
  const auto done =
      write_new(record.path, sidecar.text, temporary_sidecar_path(record.picture, id, record.number), sidecar.like);
  ReportItem& item = applied.items[sidecar.item];
  item.state = done.ok() ? ItemState::done : ItemState::failed;
  if (done.ok()) return writer.write_done(record.number);
  writer.write_failed(record.number, done.error().what);
  item.reason = done.error().what;
  for (const std::size_t a : sidecar.assets) {
    for (const Operation& operation : plan.assets[a].operations) {
      ReportItem& stays = applied.items[operation.item];
      stays.state = ItemState::left;
      stays.to.clear();
      stays.reason =
          fmt::format("{} cannot be written: {}", escape_unprintable(file_name(record.path)), done.error().what);
    }
    plan.assets[a].operations.clear();
  }
}

}  // namespace millrace::dedupe
