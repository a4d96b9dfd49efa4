#include "src/jobs/dedupe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::dedupe {
namespace {

using Json = nlohmann::ordered_json;

const CatalogPicture& picture_of(const Result& result, const Member& member) {
  return result.library.pictures[result.library.files[member.file].picture].data;
}

// Four digits are what a score means; more would only differ in noise nobody reads.
double rounded(float score) { return std::round(static_cast<double>(score) * 10000) / 10000; }

Json json_of_group(const Result& result, const Group& group) {
  Json out;
  out["id"] = group.id;
  out["kind"] = name_of(group.kind);
  out["members"] = Json::array();
  for (const Member& m : group.members) {
    const File& file = result.library.files[m.file];
    const CatalogPicture& p = picture_of(result, m);
    Json member;
    add_path(member, file.entry.path);
    member["bytes"] = file.entry.size;
    member["width"] = p.width;
    member["height"] = p.height;
    member["damaged"] = !p.damage.empty();
    member["keep"] = m.keep;
    member["why"] = m.why;
    member["size"] = file.entry.size;
    member["mtime_ns"] = std::to_string(file.entry.mtime_ns);
    member["hash"] = hex_of_bytes(p.content);
    if (file.reference) member["reference"] = true;
    if (!p.taken.empty()) member["taken"] = p.taken;
    for (const auto& [name, paths] :
         {std::pair{"companions", &file.companions}, std::pair{"hard_links", &file.hard_links}}) {
      if (paths->empty()) continue;
      Json list = Json::array();
      for (const std::string& path : *paths) {
        Json entry;
        add_path(entry, path);
        list.push_back(std::move(entry));
      }
      member[name] = std::move(list);
    }
    out["members"].push_back(std::move(member));
  }
  out["pairs"] = Json::array();
  for (const GroupPair& pair : group.pairs) {
    Json distances;
    for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) distances[name_of(kCatalogCodes[c])] = pair.distances[c];
    out["pairs"].push_back({{"a", pair.a}, {"b", pair.b}, {"distances", distances}, {"score", rounded(pair.score)}});
  }
  return out;
}

std::size_t count_of(const Result& result, GroupKind kind) {
  return static_cast<std::size_t>(
      std::count_if(result.groups.begin(), result.groups.end(), [&](const Group& g) { return g.kind == kind; }));
}

}  // namespace

std::string json_of(const Result& result) {
  Json out;
  out["groups"] = Json::array();
  for (const Group& group : result.groups) out["groups"].push_back(json_of_group(result, group));
  out["related"] = Json::array();
  for (const Group& group : result.related) out["related"].push_back(json_of_group(result, group));
  out["unreadable"] = Json::array();
  for (const Unreadable& file : result.library.unreadable) {
    Json entry;
    add_path(entry, file.path);
    entry["reason"] = file.reason;
    out["unreadable"].push_back(std::move(entry));
  }
  Json& totals = out["totals"];
  totals["files"] = result.library.files.size();
  totals["bytes"] = result.library.bytes;
  totals["contents"] = result.library.pictures.size();
  totals["rule"] = result.rule.text;
  totals["candidates"] = result.candidates;
  for (const GroupKind kind : {GroupKind::identical, GroupKind::similar, GroupKind::recoloured, GroupKind::burst}) {
    totals[name_of(kind)] = count_of(result, kind);
  }
  totals["related"] = result.related.size();
  totals["unreadable"] = result.library.unreadable.size();
  totals["reclaimable_bytes"] = result.reclaimable;
  return out.dump(1) + "\n";
}

std::string csv_of(const Result& result) {
  std::string out = "group,kind,path,bytes,width,height,damaged,keep,why\n";
  for (const Group& group : result.groups) {
    for (const Member& m : group.members) {
      const File& file = result.library.files[m.file];
      const CatalogPicture& p = picture_of(result, m);
      out += fmt::format("{},{},{},{},{},{},{},{},{}\n", group.id, name_of(group.kind),
                         csv_field(utf8_for_display(file.entry.path)), file.entry.size, p.width, p.height,
                         !p.damage.empty(), m.keep, csv_field(m.why));
    }
  }
  return out;
}

void write_page(const Result& result, const Options& options, Catalog& catalog, const std::string& path) {
  PageHeader header;
  header.title = "Millrace: duplicates";
  header.folders = options.folders;
  header.files = result.library.files.size() + result.library.others.size();
  header.pictures = result.library.files.size();
  header.groups = result.groups.size() + result.related.size();
  header.reclaimable = result.reclaimable;
  for (const Unreadable& file : result.library.unreadable) header.unreadable.push_back({file.path, file.reason});
  header.rule = options.verify ? fmt::format("Candidates by {}, each verified on its pixels. Kept: {}.",
                                             result.rule.text, options.keep)
                               : fmt::format("Linked by {} alone. Kept: {}.", result.rule.text, options.keep);
  DuplicatesPage page(path, header);
  for (const auto* list : {&result.groups, &result.related}) {
    for (const Group& group : *list) {
      PageGroup out;
      out.id = group.id;
      out.kind = group.kind;
      for (const Member& m : group.members) {
        const File& file = result.library.files[m.file];
        const CatalogPicture& p = picture_of(result, m);
        PageMember member;
        member.path = file.entry.path;
        member.size = file.entry.size;
        member.width = static_cast<std::uint32_t>(p.width);
        member.height = static_cast<std::uint32_t>(p.height);
        member.mtime_ns = file.entry.mtime_ns;
        member.date = p.taken;
        member.camera = p.camera;
        member.hash = hex_of_bytes(p.content);
        member.damaged = !p.damage.empty();
        member.reference = file.reference;
        member.keep = m.keep;
        member.why = m.why;
        member.companions = file.companions;
        if (const auto jpeg = catalog.thumbnail(p.content)) member.thumb.assign(jpeg->begin(), jpeg->end());
        out.members.push_back(std::move(member));
      }
      for (const GroupPair& pair : group.pairs) {
        PagePair shown{pair.a, pair.b, rounded(pair.score), {}};
        for (std::size_t c = 0; c < kCatalogCodes.size(); ++c)
          shown.distances[millrace::name_of(kCatalogCodes[c])] = pair.distances[c];
        out.pairs.push_back(std::move(shown));
      }
      page.add_group(out);
    }
  }
  page.finish();
}

std::string summary_of(const Result& result) {
  const Library& library = result.library;
  std::string out = fmt::format("{} pictures ({}) in {}: {} decoded, {} unchanged\n", grouped(library.files.size()),
                                to_text(Bytes{library.bytes}), duration_text(result.seconds), grouped(library.decoded),
                                grouped(library.unchanged));
  out += fmt::format("{} groups of identical files, {} of similar pictures; {} could be freed\n",
                     grouped(count_of(result, GroupKind::identical)), grouped(count_of(result, GroupKind::similar)),
                     to_text(Bytes{result.reclaimable}));
  const std::size_t recoloured = count_of(result, GroupKind::recoloured), bursts = count_of(result, GroupKind::burst);
  if (recoloured + bursts + result.related.size() > 0) {
    out += fmt::format("also {} recoloured, {} bursts, {} related pairs\n", grouped(recoloured), grouped(bursts),
                       grouped(result.related.size()));
  }
  if (!library.unreadable.empty()) {
    out += fmt::format("{} files could not be used:\n", grouped(library.unreadable.size()));
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(kShown, library.unreadable.size()); ++i) {
      out += fmt::format("  {}: {}\n", printable(library.unreadable[i].path), library.unreadable[i].reason);
    }
    if (library.unreadable.size() > kShown) out += "  ... --json lists them all\n";
  }
  return out;
}

}  // namespace millrace::dedupe
