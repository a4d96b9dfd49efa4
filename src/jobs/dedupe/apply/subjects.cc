#include "src/jobs/dedupe/apply/subjects.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/names.h"

namespace millrace::dedupe {
namespace {

bool agree(const Decision& a, const Decision& b) {
  return a.size == b.size && a.mtime_ns == b.mtime_ns && a.hash == b.hash;
}

// Checks everything but the bytes.
void look_at(Subject& subject) {
  const Decision& said = subject.first();
  const auto state = state_of(subject.path);
  if (!state) {
    subject.missing = state.error().code == ErrorCode::not_found;
    subject.trouble = subject.missing ? "is not there any more" : state.error().what;
    return;
  }
  subject.state = *state;
  if (!state->regular) {
    subject.trouble = state->link ? "is a symbolic link, not a file" : "is not a file";
  } else if (state->size != said.size) {
    subject.trouble = fmt::format("changed since: it has {} bytes, the decision is about {}", state->size, said.size);
  } else if (state->mtime_ns != said.mtime_ns) {
    subject.trouble = "changed since: its time of last change is another";
  }
}

void read(Subject& subject) {
  const auto hash = hash_file(subject.path, Links::refused);
  if (!hash) {
    subject.trouble = hash.error().what;
  } else if (*hash != subject.first().hash) {
    subject.trouble = "changed since: its bytes are not those that the decision is about";
  }
  const auto after = state_of(subject.path);
  if (subject.good() && (!after || !after->same(subject.state))) subject.trouble = "changed while it was read";
}

}  // namespace

Subjects::Subjects(const Decisions& decisions, const std::vector<std::string>& references, const KnownFiles& known,
                   bool follow_symlinks)
    : known_(known), follow_symlinks_(follow_symlinks) {
  std::map<std::string, std::vector<const Decision*>> by_path;
  std::map<std::string, std::string> folders;  // canonical forms, each computed once
  for (const Decision& decision : decisions.entries) {
    const std::string_view name = file_name(decision.path);
    const std::string folder = decision.path.substr(0, decision.path.size() - name.size());
    const auto [at, fresh] = folders.try_emplace(folder);
    if (fresh) at->second = canonical(folder);
    by_path[path_in(at->second, name)].push_back(&decision);
  }
  for (auto& entry : by_path) {
    const std::string& path = entry.first;
    Subject subject;
    subject.path = path;
    subject.decisions = std::move(entry.second);
    for (const Decision* d : subject.decisions) {
      subject.through_link |= d->path != path;
      subject.remove |= d->kind == DecisionKind::remove;
      subject.chosen |= d->kind == DecisionKind::remove && d->chosen;
      subject.keep |= d->kind == DecisionKind::keep;
      subject.reference |= d->reference;
      if (!agree(*d, subject.first())) subject.trouble = "the decisions contradict each other about it";
    }
    subject.reference |=
        std::any_of(references.begin(), references.end(), [&](const std::string& r) { return inside(path, r); });
    subject.goes = subject.remove && !subject.keep && !subject.reference;
    all_.push_back(std::move(subject));
  }
  std::set<std::string> partly;  // groups of which a member is kept
  for (std::size_t i = 0; i < all_.size(); ++i) {
    for (const Decision* d : all_[i].decisions) {
      if (d->kind != DecisionKind::remove || !d->chosen || d->whole_group == 0 || !all_[i].goes) {
        partly.insert(d->group);
        continue;
      }
      WholeGroup& group = whole_groups_[d->group];
      group.said.insert(d->whole_group);
      if (group.members.empty() || group.members.back() != i) group.members.push_back(i);
    }
  }
  for (const std::string& group : partly) whole_groups_.erase(group);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].goes) by_content_[all_[i].first().hash].push_back(i);
    for (const Decision* d : all_[i].decisions) {
      auto& members = groups_[d->group];
      if (!all_[i].goes && (members.empty() || members.back() != i)) members.push_back(i);
      if (d->kind != DecisionKind::not_duplicates) continue;
      if (d->with) {
        not_duplicate_pairs_.emplace(std::min(d->hash, *d->with), std::max(d->hash, *d->with));
      } else {
        not_duplicate_groups_[d->group].push_back(i);
      }
    }
  }
}

void Subjects::examine(RunContext& context) {
  std::vector<bool> matters(all_.size(), false);
  const auto add_all = [&](const std::vector<std::size_t>& members) {
    for (const std::size_t i : members) matters[i] = true;
  };
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].goes) continue;
    matters[i] = true;
    for (const Decision* d : all_[i].decisions) add_all(groups_.at(d->group));
    add_all(by_content_[all_[i].first().hash]);
  }
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!matters[i]) continue;
    if (all_[i].good()) look_at(all_[i]);
    if (all_[i].good()) check_place(all_[i]);
    if (all_[i].good()) wanted.push_back(i);
  }
  Progress progress(context.progress, "checking", wanted.size());
  context.executor.parallel_for(wanted.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end && !context.cancel.cancelled(); ++k) {
      read(all_[wanted[k]]);
      progress.add(1, all_[wanted[k]].state.size);
    }
  });
}

// Decisions are untrusted: they may only name files that the search saw, at the same place.
void Subjects::check_place(Subject& subject) const {
  if (subject.through_link && !follow_symlinks_) {
    subject.trouble =
        "it is named through a symbolic link or another path than its own: search again, or, where it was found so, "
        "--follow-symlinks";
    return;
  }
  // The file's real path is looked up, since a link may lead to another file of that size, time and content by now.
  subject.known = std::any_of(subject.decisions.begin(), subject.decisions.end(),
                              [&](const Decision* d) { return known_.knows(subject.path, *d); });
  if (!subject.known && !known_.is_within(subject.path)) subject.trouble = known_.reason();
}

bool Subjects::goes_with_its_groups(const Subject& gone) const {
  return gone.goes && std::all_of(gone.decisions.begin(), gone.decisions.end(), [&](const Decision* d) {
           return d->kind != DecisionKind::remove || whole_groups_.count(d->group) > 0;
         });
}

std::string Subjects::changed_group_of(const Subject& gone,
                                       const std::function<bool(const Subject&)>& went_before) const {
  for (const Decision* d : gone.decisions) {
    const auto whole = whole_groups_.find(d->group);
    if (d->kind != DecisionKind::remove || whole == whole_groups_.end()) continue;
    const WholeGroup& group = whole->second;
    if (group.said.size() != 1 || *group.said.begin() != group.members.size()) {
      return fmt::format(
          "all {} members of group {} were to go, and the decisions name {}: save them again from the page",
          d->whole_group, printable(d->group), group.members.size());
    }
    for (const std::size_t i : group.members) {
      const Subject& member = all_[i];
      if (&member == &gone || member.good() || went_before(member)) continue;
      return fmt::format(
          "all of group {} was to go, and not without {}: it {}: search again and "
          "decide about those that are left",
          printable(d->group), printable(member.path), member.trouble);
    }
  }
  return "";
}

const Subject* Subjects::find(const std::string& path) const {
  const auto at = std::lower_bound(all_.begin(), all_.end(), path,
                                   [](const Subject& s, const std::string& p) { return s.path < p; });
  return at != all_.end() && at->path == path ? &*at : nullptr;
}

bool Subjects::told_apart(const Subject& a, const Subject& b) const {
  const ContentHash &x = a.first().hash, &y = b.first().hash;
  if (not_duplicate_pairs_.count({std::min(x, y), std::max(x, y)}) > 0) return true;
  return std::any_of(a.decisions.begin(), a.decisions.end(), [&](const Decision* d) {
    if (d->kind != DecisionKind::not_duplicates || d->with) return false;
    const auto& whole = not_duplicate_groups_.at(d->group);
    return std::any_of(whole.begin(), whole.end(), [&](std::size_t i) { return &all_[i] == &b; });
  });
}

const Subject* Subjects::other_name_of(const Subject& gone) const {
  const auto same = by_content_.find(gone.first().hash);
  if (same == by_content_.end() || gone.missing) return nullptr;
  for (const std::size_t i : same->second) {
    if (all_[i].good() && all_[i].state.same_inode(gone.state)) return &all_[i];
  }
  return nullptr;
}

const Subject* Subjects::troubled_survivor_of(const Subject& gone) const {
  for (const Decision* d : gone.decisions) {
    for (const std::size_t i : groups_.at(d->group)) {
      if (!all_[i].good()) return &all_[i];
    }
  }
  return nullptr;
}

bool Subjects::may_go_for(const Subject& gone, const Subject& stays) const {
  return stays.first().hash == gone.first().hash ||
         known_.may_go_for(gone.path, gone.first(), stays.path, stays.first());
}

std::vector<const Subject*> Subjects::survivors_of(const Subject& gone) const {
  // Ranks: 1 other bytes; 2 the same in the detailed check; 3 equal bytes on another file system; 4 equal bytes in a
  // reference folder; 5 equal bytes that may be linked to.
  const auto rank = [&](const Subject* s) {
    if (s->first().hash != gone.first().hash) return may_go_for(gone, *s) ? 2 : 1;
    return s->state.device != gone.state.device ? 3 : s->reference ? 4 : 5;
  };
  std::vector<const Subject*> survivors;
  const auto add = [&](const Subject* s) {
    if (std::find(survivors.begin(), survivors.end(), s) == survivors.end()) survivors.push_back(s);
  };
  for (const Decision* d : gone.decisions) {
    if (d->kind != DecisionKind::remove) continue;
    const auto best_of = [&](const std::vector<std::size_t>& members) {
      const Subject* best = nullptr;
      for (const std::size_t i : members) {
        const Subject& s = all_[i];
        if (!s.good() || s.state.same_inode(gone.state) || told_apart(s, gone)) continue;
        if (best == nullptr || rank(&s) > rank(best)) best = &s;
      }
      return best;
    };
    const Subject* own = best_of(groups_.at(d->group));
    const auto content = by_content_.find(gone.first().hash);
    const Subject* twin = content == by_content_.end() ? nullptr : best_of(content->second);
    if (own == nullptr && twin == nullptr) {
      if (whole_groups_.count(d->group) > 0) continue;
      return {};
    }
    if (own != nullptr) add(own);
    if (twin != nullptr && (own == nullptr || rank(twin) > rank(own))) add(twin);
  }
  std::stable_sort(survivors.begin(), survivors.end(),
                   [&](const Subject* a, const Subject* b) { return rank(a) > rank(b); });
  return survivors;
}

}  // namespace millrace::dedupe
