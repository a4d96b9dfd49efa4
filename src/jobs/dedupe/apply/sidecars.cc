#include "src/jobs/dedupe/apply/sidecars.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/image/said.h"
#include "src/jobs/dedupe/apply/names.h"
#include "src/jobs/dedupe/scan/companions.h"

namespace millrace::dedupe {
namespace {

const std::string& picture_of(const AssetOperation& asset) { return asset.operations.back().record.path; }

// Returns the metadata of a kept picture. If a sidecar cannot be read, `unread` says why; then no sidecar may be
// written, since it could contradict that one.
Outcome<Said> said_of_what_stays(const AssetOperation::Survivor& picture, const std::vector<std::string>& companions,
                                 std::string& unread) {
  Said out;
  // Metadata in a person's sidecar are newer than those in the picture.
  for (const std::string& companion : companions) {
    const auto said = said_by_sidecar(companion);
    if (said) {
      out.add(*said);
    } else {
      unread = fmt::format("{} {}", printable(file_name(companion)), said.error().what);
    }
  }
  const auto own = said_of(picture.path, picture.state);
  if (!own) return own.error();
  out.add(*own);
  return out;
}

class Planning {
 public:
  Planning(ApplyPlan& plan, const PlanInput& input, Applied& applied) : plan_(plan), input_(input), applied_(applied) {
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
    for (const auto& [picture, assets] : of_picture) consider(picture, assets);
    take_out();
    return std::move(out_);
  }

 private:
  // A file whose metadata were taken, and which ones.
  struct Teller {
    std::size_t asset;
    std::string name;
    Said took;
  };

  void consider(const std::string& picture, const std::vector<std::size_t>& assets) {
    const AssetOperation::Survivor& stays = plan_.assets[assets[0]].survivors[0];
    const std::vector<std::string> beside = companions_.of(picture).files;
    std::string unread;  // why not all of its sidecars could be read
    const auto own = said_of_what_stays(stays, beside, unread);
    if (!own) {
      for (const std::size_t a : assets) leave(a, own.error().what);
      return;
    }
    const std::string name(printable(file_name(picture)));
    Said known = *own, added;
    std::vector<Teller> tellers;
    for (const std::size_t a : assets) {
      const auto theirs = said_of_what_goes(plan_.assets[a], stays, beside);
      if (!theirs) {
        leave(a, theirs.error().what);
        continue;
      }
      if (theirs->favourite && !own->favourite) {
        leave(a, "it is a favourite, which cannot be written down");
        continue;
      }
      if (!theirs->odd.empty()) {
        leave(a, fmt::format("{} cannot be understood, and so not written down", theirs->odd));
        continue;
      }
      Lacking lacks = lacking(known, *theirs);
      Said all = added;
      all.add(lacks.said);
      if (all.cut) {
        leave(a, fmt::format("it says more than fits into a sidecar of {}", name));
        continue;
      }
      tell_of_differences(a, *theirs, name, *own, tellers);
      if (lacks.said.nothing()) continue;
      known.add(lacks.said);
      added = std::move(all);
      tellers.push_back({a, std::string(printable(file_name(picture_of(plan_.assets[a])))), std::move(lacks.said)});
    }
    if (added.nothing()) return;
    const std::string words = words_of(added);
    const auto refuse = [&](const std::string& why) {
      for (const Teller& teller : tellers)
        leave(teller.asset, fmt::format("{}, and {} lacks what it knows: {}", why, name, printable(words)));
    };
    const bool in_reference =
        stays.reference || std::any_of(input_.references.begin(), input_.references.end(),
                                       [&](const std::string& folder) { return inside(picture, folder); });
    if (in_reference) return refuse("nothing is written into a reference folder");
    const std::string path = merged_sidecar(picture);
    const auto sidecar =
        std::find_if(beside.begin(), beside.end(), [](const std::string& file) { return extension(file) == "xmp"; });
    if (sidecar != beside.end() || exists(path)) {
      return refuse(fmt::format("{} is there and is not changed",
                                printable(file_name(sidecar != beside.end() ? *sidecar : path))));
    }
    if (!unread.empty()) return refuse(unread);
    SidecarPlan planned;
    planned.text = xmp_sidecar(added);
    // A later run could not read a longer one.
    if (planned.text.size() > kLongestSidecar) return refuse("it is more than fits into a sidecar");
    planned.like = stays.state;
    planned.record.number = next_number_++;
    planned.record.path = path;
    planned.record.picture = picture;
    planned.record.size = planned.text.size();
    planned.record.hash = content_hash(planned.text);
    std::vector<std::string> from;
    for (const Teller& teller : tellers) {
      planned.assets.push_back(teller.asset);
      from.push_back(teller.name);
    }
    Item item;
    item.group = item_of(tellers[0].asset).group;
    item.path = path;
    item.main = picture;
    item.size = planned.text.size();
    item.sidecar = true;
    item.reason = fmt::format("{}, as {} knew", words, fmt::join(from, ", "));
    applied_.items.push_back(std::move(item));
    planned.item = applied_.items.size() - 1;
    out_.push_back(std::move(planned));
  }

  // Adds remarks on metadata that differ. Those of the kept picture count, else those of the first removed one.
  void tell_of_differences(std::size_t asset, const Said& theirs, const std::string& stays, const Said& own,
                           const std::vector<Teller>& tellers) {
    if (const auto differing = lacking(own, theirs).differing; !differing.empty())
      remark(asset, fmt::format("{} keeps {}", stays, fmt::join(differing, ", ")));
    const std::string name(printable(file_name(picture_of(plan_.assets[asset]))));
    for (const Teller& teller : tellers) {
      const auto differing = lacking(teller.took, theirs).differing;
      if (differing.empty()) continue;
      const std::string words = fmt::format("{}", fmt::join(differing, ", "));
      remark(asset, fmt::format("the word of {} is taken: {}", teller.name, words));
      remark(teller.asset, fmt::format("its word is taken, not that of {}: {}", name, words));
    }
  }

  // Returns an Error with the reason if a removed file has metadata or settings that cannot be written down.
  Outcome<Said> said_of_what_goes(const AssetOperation& asset, const AssetOperation::Survivor& stays,
                                  const std::vector<std::string>& beside) const {
    const auto refused = [](const std::string& file, const std::string& what) {
      return Error{ErrorCode::unsupported, fmt::format("{} {}", printable(file_name(file)), what), "", ""};
    };
    const JournalRecord& picture = asset.operations.back().record;
    // A companion that is not a file stays in its place, and then it would be unknown to which picture it belongs.
    for (std::size_t i = asset.operations.back().item; i-- > 0 && applied_.items[i].main == picture.path;) {
      const Item& companion = applied_.items[i];
      if (companion.state == State::left) return refused(companion.path, companion.reason);
    }
    Said out;
    for (const Operation& operation : asset.operations) {
      if (operation.record.main.empty()) continue;
      const std::string& file = operation.record.path;
      const auto said = said_by_sidecar(file);
      if (!said) return refused(file, said.error().what);
      if (said->developed && !has_copy(file, beside))
        return refused(file, "has develop settings, which cannot be written down");
      out.add(*said);
    }
    // Equal bytes have equal metadata.
    if (picture.hash == stays.hash) return out;
    const auto own = said_of(picture.path, picture.before);
    if (!own) return own.error();
    if (own->developed) return refused(picture.path, "has develop settings, which cannot be written down");
    out.add(*own);
    return out;
  }

  Item& item_of(std::size_t asset) { return applied_.items[plan_.assets[asset].operations.back().item]; }
  void remark(std::size_t asset, const std::string& words) {
    std::string& reason = item_of(asset).reason;
    reason += (reason.empty() ? "" : "; ") + words;
  }
  void leave(std::size_t asset, const std::string& why) {
    for (const Operation& operation : plan_.assets[asset].operations) {
      applied_.items[operation.item].state = State::left;
      applied_.items[operation.item].to.clear();
      applied_.items[operation.item].reason = why;
    }
    left_.insert(asset);
  }

  // Removes the left assets from the plan, and renumbers the others.
  void take_out() {
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
  Applied& applied_;
  CompanionFinder companions_;
  std::vector<SidecarPlan> out_;
  std::set<std::size_t> left_;
  std::uint64_t next_number_ = 1;
};

}  // namespace

std::vector<SidecarPlan> plan_sidecars(ApplyPlan& plan, const PlanInput& input, Applied& applied) {
  // Hard links remove no data.
  if (input.action == Action::hardlink) return {};
  return Planning(plan, input, applied).run();
}

void write_sidecar(const SidecarPlan& sidecar, ApplyPlan& plan, const std::string& id, JournalWriter& writer,
                   Applied& applied) {
  const JournalSidecar& record = sidecar.record;
  writer.sidecar(record);
  const auto done =
      write_new(record.path, sidecar.text, temporary_sidecar(record.picture, id, record.number), sidecar.like);
  Item& item = applied.items[sidecar.item];
  item.state = done.ok() ? State::done : State::failed;
  if (done.ok()) return writer.done(record.number);
  writer.failed(record.number, done.error().what);
  item.reason = done.error().what;
  for (const std::size_t a : sidecar.assets) {
    for (const Operation& operation : plan.assets[a].operations) {
      Item& stays = applied.items[operation.item];
      stays.state = State::left;
      stays.to.clear();
      stays.reason = fmt::format("{} cannot be written: {}", printable(file_name(record.path)), done.error().what);
    }
    plan.assets[a].operations.clear();
  }
}

}  // namespace millrace::dedupe
