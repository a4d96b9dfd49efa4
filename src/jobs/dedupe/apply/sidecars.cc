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

// A picture, and the sidecars that say more of it; an Error where it cannot be read.
Outcome<Said> said_of_asset(const std::string& picture, const std::vector<std::string>& companions) {
  Said out;
  // What a person wrote beside it is newer than what is in it.
  for (const std::string& companion : companions) out.add(said_by_sidecar(companion));
  auto own = said_of(picture);
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
    std::map<std::string, std::vector<std::size_t>> of_picture;  // those that go for it
    for (std::size_t a = 0; a < plan_.assets.size(); ++a) {
      if (!plan_.assets[a].survivors.empty()) of_picture[plan_.assets[a].survivors[0].path].push_back(a);
    }
    for (const auto& [picture, assets] : of_picture) consider(picture, assets);
    take_out();
    return std::move(out_);
  }

 private:
  void consider(const std::string& picture, const std::vector<std::size_t>& assets) {
    const AssetOperation::Survivor& stays = plan_.assets[assets[0]].survivors[0];
    const std::vector<std::string> beside = companions_.of(picture).files;
    const auto own = said_of_asset(picture, beside);
    if (!own) {
      for (const std::size_t a : assets) leave(a, own.error().what);
      return;
    }
    Said known = *own, added;
    std::vector<std::size_t> tellers;
    std::vector<std::string> from;
    for (const std::size_t a : assets) {
      const AssetOperation& asset = plan_.assets[a];
      std::vector<std::string> along;
      for (const Operation& operation : asset.operations) {
        if (!operation.record.main.empty()) along.push_back(operation.record.path);
      }
      const auto theirs = said_of_asset(picture_of(asset), along);
      if (!theirs) {
        leave(a, theirs.error().what);
        continue;
      }
      const Lacking lacks = lacking(known, *theirs);
      if (!lacks.differing.empty()) {
        remark(a, fmt::format("{} keeps {}", printable(file_name(picture)), fmt::join(lacks.differing, ", ")));
      }
      if (lacks.said.nothing()) continue;
      tellers.push_back(a);
      from.push_back(printable(file_name(picture_of(asset))));
      known.add(lacks.said);
      added.add(lacks.said);
    }
    if (added.nothing()) return;
    const std::string words = words_of(added);
    const auto refuse = [&](const std::string& why) {
      for (const std::size_t a : tellers)
        leave(a,
              fmt::format("{}, and {} lacks what it knows: {}", why, printable(file_name(picture)), printable(words)));
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
    SidecarPlan planned;
    planned.text = xmp_sidecar(added);
    planned.like = stays.state;
    planned.assets = tellers;
    planned.record.number = next_number_++;
    planned.record.path = path;
    planned.record.picture = picture;
    planned.record.size = planned.text.size();
    planned.record.hash = content_hash(planned.text);
    Item item;
    item.group = applied_.items[plan_.assets[tellers[0]].operations.back().item].group;
    item.path = path;
    item.main = picture;
    item.size = planned.text.size();
    item.sidecar = true;
    item.reason = fmt::format("{}, as {} knew", words, fmt::join(from, ", "));
    applied_.items.push_back(std::move(item));
    planned.item = applied_.items.size() - 1;
    out_.push_back(std::move(planned));
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

  // The rest of the plan, and its places anew.
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
  // Of a link nothing goes.
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

void tidy_sidecars(const Journal& journal) {
  for (const JournalSidecar& sidecar : journal.sidecars) {
    if (!sidecar.done && !sidecar.undone)
      remove_left_over(temporary_sidecar(sidecar.picture, journal.id, sidecar.number));
  }
}

void undo_sidecars(const Journal& journal, bool go, JournalWriter* writer, Applied& applied) {
  if (go) tidy_sidecars(journal);
  for (auto sidecar = journal.sidecars.rbegin(); sidecar != journal.sidecars.rend(); ++sidecar) {
    if (sidecar->undone) continue;
    const auto state = state_of(sidecar->path);
    if (!state) continue;  // it was never written, or somebody removed it
    Item item;
    item.path = sidecar->path;
    item.main = sidecar->picture;
    item.size = sidecar->size;
    item.sidecar = true;
    const auto hash = hash_file(sidecar->path, Links::refused);
    if (!state->regular || state->size != sidecar->size || !hash || *hash != sidecar->hash) {
      // Where it was not done, what is there is somebody's.
      if (!sidecar->done) continue;
      item.state = State::left;
      item.reason = "it was changed since it was written: it stays";
    } else if (go) {
      step("remove a sidecar");
      const auto removed = remove_name(sidecar->path, *state);
      item.state = removed.ok() ? State::done : State::failed;
      if (removed.ok()) {
        writer->undone(sidecar->number, sidecar->path);
      } else {
        item.reason = removed.error().what;
      }
    }
    applied.items.push_back(std::move(item));
  }
}

}  // namespace millrace::dedupe
