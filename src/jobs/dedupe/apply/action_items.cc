#include "src/jobs/dedupe/apply/action_items.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/operation_names.h"

namespace millrace::dedupe {
namespace {

bool is_same_file_state(const Decision& a, const Decision& b) {
  return a.size == b.size && a.mtime_ns == b.mtime_ns && a.hash == b.hash;
}

// Checks everything but the bytes.
void check_state(ActionItem& subject) {
  const Decision& decided = subject.first();
  const auto state = state_of(subject.path);
  if (!state) {
    subject.missing = state.error().code == ErrorCode::not_found;
    subject.trouble = subject.missing ? "no longer exists" : state.error().what;
    return;
  }
  subject.state = *state;
  if (!state->regular) {
    subject.trouble = state->link ? "is a symbolic link, not a file" : "is not a file";
  } else if (state->size != decided.size) {
    subject.trouble =
        fmt::format("changed since the decision: it has {} bytes, expected {}", state->size, decided.size);
  } else if (state->mtime_ns != decided.mtime_ns) {
    subject.trouble = "changed since the decision: its modification time differs";
  }
}

void verify_hash(ActionItem& subject) {
  const auto hash = hash_file(subject.path, LinkPolicy::refused);
  if (!hash) {
    subject.trouble = hash.error().what;
  } else if (*hash != subject.first().hash) {
    subject.trouble = "changed since the decision: its content differs";
  }
  const auto after = state_of(subject.path);
  if (subject.is_valid() && (!after || !after->same(subject.state))) subject.trouble = "changed while it was read";
}

}  // namespace

ActionItems::ActionItems(const Decisions& decisions, const std::vector<std::string>& references,
                         const CatalogedFiles& known, bool follow_symlinks)
    : known_(known), follow_symlinks_(follow_symlinks) {
  std::map<std::string, std::vector<const Decision*>> by_path;
  std::map<std::string, std::string> folders;  // canonical forms, each computed once
  for (const Decision& decision : decisions.entries) {
    const std::string_view name = file_name(decision.path);
    const std::string folder = decision.path.substr(0, decision.path.size() - name.size());
    const auto [at, fresh] = folders.try_emplace(folder);
    if (fresh) at->second = resolve_folder(folder);
    by_path[join_path(at->second, name)].push_back(&decision);
  }
  for (auto& entry : by_path) {
    const std::string& path = entry.first;
    ActionItem subject;
    subject.path = path;
    subject.decisions = std::move(entry.second);
    for (const Decision* d : subject.decisions) {
      subject.through_link |= d->path != path;
      subject.remove |= d->kind == DecisionKind::remove;
      subject.chosen |= d->kind == DecisionKind::remove && d->chosen;
      subject.keep |= d->kind == DecisionKind::keep;
      subject.reference |= d->reference;
      if (!is_same_file_state(*d, subject.first()))
        subject.trouble = "the decisions disagree about its size, time or hash";
    }
    subject.reference |=
        std::any_of(references.begin(), references.end(), [&](const std::string& r) { return is_inside(path, r); });
    subject.is_to_remove = subject.remove && !subject.keep && !subject.reference;
    all_.push_back(std::move(subject));
  }
  std::set<std::string> partly;  // groups of which a member is kept
  for (std::size_t i = 0; i < all_.size(); ++i) {
    for (const Decision* d : all_[i].decisions) {
      if (d->kind != DecisionKind::remove || !d->chosen || d->whole_group == 0 || !all_[i].is_to_remove) {
        partly.insert(d->group);
        continue;
      }
      WholeGroup& group = whole_groups_[d->group];
      group.decided.insert(d->whole_group);
      if (group.members.empty() || group.members.back() != i) group.members.push_back(i);
    }
  }
  for (const std::string& group : partly) whole_groups_.erase(group);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].is_to_remove) by_content_[all_[i].first().hash].push_back(i);
    for (const Decision* d : all_[i].decisions) {
      auto& members = groups_[d->group];
      if (!all_[i].is_to_remove && (members.empty() || members.back() != i)) members.push_back(i);
      if (d->kind != DecisionKind::confirmed_distinct) continue;
      if (d->with) {
        confirmed_distinct_pairs_.emplace(std::min(d->hash, *d->with), std::max(d->hash, *d->with));
      } else {
        confirmed_distinct_groups_[d->group].push_back(i);
      }
    }
  }
}

void ActionItems::verify_files(RunContext& context) {
  std::vector<bool> matters(all_.size(), false);
  const auto add_all = [&](const std::vector<std::size_t>& members) {
    for (const std::size_t i : members) matters[i] = true;
  };
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].is_to_remove) continue;
    matters[i] = true;
    for (const Decision* d : all_[i].decisions) add_all(groups_.at(d->group));
    add_all(by_content_[all_[i].first().hash]);
  }
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!matters[i]) continue;
    if (all_[i].is_valid()) check_state(all_[i]);
    if (all_[i].is_valid()) verify_path(all_[i]);
    if (all_[i].is_valid()) wanted.push_back(i);
  }
  Progress progress(context.progress, "checking", wanted.size());
  context.executor.parallel_for(wanted.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end && !context.cancel.cancelled(); ++k) {
      verify_hash(all_[wanted[k]]);
      progress.add(1, all_[wanted[k]].state.size);
    }
  });
}

// Decisions are untrusted: they may only name files that the search saw, at the same place.
void ActionItems::verify_path(ActionItem& subject) const {
  if (subject.through_link && !follow_symlinks_) {
    subject.trouble =
        "the decision names it through a symbolic link or another path than its own: search again, or add "
        "--follow-symlinks if the search had it";
    return;
  }
  // The file's real path is looked up, since a link may lead to another file of that size, time and content by now.
  subject.known = std::any_of(subject.decisions.begin(), subject.decisions.end(),
                              [&](const Decision* d) { return known_.has_file(subject.path, *d); });
  if (!subject.known && !known_.is_within(subject.path)) subject.trouble = known_.reason();
}

bool ActionItems::is_whole_group_removed(const ActionItem& gone) const {
  return gone.is_to_remove && std::all_of(gone.decisions.begin(), gone.decisions.end(), [&](const Decision* d) {
           return d->kind != DecisionKind::remove || whole_groups_.count(d->group) > 0;
         });
}

std::string ActionItems::explain_changed_group(const ActionItem& gone,
                                               const std::function<bool(const ActionItem&)>& was_removed_before) const {
  for (const Decision* d : gone.decisions) {
    const auto whole = whole_groups_.find(d->group);
    if (d->kind != DecisionKind::remove || whole == whole_groups_.end()) continue;
    const WholeGroup& group = whole->second;
    if (group.decided.size() != 1 || *group.decided.begin() != group.members.size()) {
      return fmt::format(
          "group {} was to be removed entirely, with {} members, but the decisions name {}: save them again from the "
          "page",
          escape_unprintable(d->group), d->whole_group, group.members.size());
    }
    for (const std::size_t i : group.members) {
      const ActionItem& member = all_[i];
      if (&member == &gone || member.is_valid() || was_removed_before(member)) continue;
      return fmt::format(
          "group {} was to be removed entirely, but {} cannot be removed ({}): search again and decide about the rest",
          escape_unprintable(d->group), escape_unprintable(member.path), member.trouble);
    }
  }
  return "";
}

const ActionItem* ActionItems::find(const std::string& path) const {
  const auto at = std::lower_bound(all_.begin(), all_.end(), path,
                                   [](const ActionItem& s, const std::string& p) { return s.path < p; });
  return at != all_.end() && at->path == path ? &*at : nullptr;
}

bool ActionItems::is_confirmed_distinct(const ActionItem& a, const ActionItem& b) const {
  const ContentHash &x = a.first().hash, &y = b.first().hash;
  if (confirmed_distinct_pairs_.count({std::min(x, y), std::max(x, y)}) > 0) return true;
  return std::any_of(a.decisions.begin(), a.decisions.end(), [&](const Decision* d) {
    if (d->kind != DecisionKind::confirmed_distinct || d->with) return false;
    const auto& whole = confirmed_distinct_groups_.at(d->group);
    return std::any_of(whole.begin(), whole.end(), [&](std::size_t i) { return &all_[i] == &b; });
  });
}

const ActionItem* ActionItems::find_hard_link(const ActionItem& gone) const {
  const auto same = by_content_.find(gone.first().hash);
  if (same == by_content_.end() || gone.missing) return nullptr;
  for (const std::size_t i : same->second) {
    if (all_[i].is_valid() && all_[i].state.has_same_inode(gone.state)) return &all_[i];
  }
  return nullptr;
}

const ActionItem* ActionItems::find_troubled_survivor(const ActionItem& gone) const {
  for (const Decision* d : gone.decisions) {
    for (const std::size_t i : groups_.at(d->group)) {
      if (!all_[i].is_valid()) return &all_[i];
    }
  }
  return nullptr;
}

bool ActionItems::is_removable_for(const ActionItem& gone, const ActionItem& stays) const {
  return stays.first().hash == gone.first().hash ||
         known_.is_removable_for(gone.path, gone.first(), stays.path, stays.first());
}

std::vector<const ActionItem*> ActionItems::find_survivors(const ActionItem& gone) const {
  // Ranks: 1 other bytes; 2 the same in the detailed check; 3 equal bytes on another file system; 4 equal bytes in a
  // reference folder; 5 equal bytes that may be linked to.
  const auto rank = [&](const ActionItem* s) {
    if (s->first().hash != gone.first().hash) return is_removable_for(gone, *s) ? 2 : 1;
    return s->state.device != gone.state.device ? 3 : s->reference ? 4 : 5;
  };
  std::vector<const ActionItem*> survivors;
  const auto add = [&](const ActionItem* s) {
    if (std::find(survivors.begin(), survivors.end(), s) == survivors.end()) survivors.push_back(s);
  };
  for (const Decision* d : gone.decisions) {
    if (d->kind != DecisionKind::remove) continue;
    const auto best_of = [&](const std::vector<std::size_t>& members) {
      const ActionItem* best = nullptr;
      for (const std::size_t i : members) {
        const ActionItem& s = all_[i];
        if (!s.is_valid() || s.state.has_same_inode(gone.state) || is_confirmed_distinct(s, gone)) continue;
        if (best == nullptr || rank(&s) > rank(best)) best = &s;
      }
      return best;
    };
    const ActionItem* own = best_of(groups_.at(d->group));
    const auto content = by_content_.find(gone.first().hash);
    const ActionItem* twin = content == by_content_.end() ? nullptr : best_of(content->second);
    if (own == nullptr && twin == nullptr) {
      if (whole_groups_.count(d->group) > 0) continue;
      return {};
    }
    if (own != nullptr) add(own);
    if (twin != nullptr && (own == nullptr || rank(twin) > rank(own))) add(twin);
  }
  std::stable_sort(survivors.begin(), survivors.end(),
                   [&](const ActionItem* a, const ActionItem* b) { return rank(a) > rank(b); });
  return survivors;
}

}  // namespace millrace::dedupe
