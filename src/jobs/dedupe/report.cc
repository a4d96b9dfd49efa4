#include "src/jobs/dedupe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/page/page.h"
#include "src/jobs/dedupe/page/previews.h"
#include "src/report/json_path.h"

namespace millrace::dedupe {
namespace {

// A CSV table has no place for a format mark, so its header serves as one.
constexpr const char* kCsvHeader = "group,kind,path,bytes,width,height,damaged,keep,why";

const CatalogPicture& picture_of(const SearchResult& result, const Member& member) {
  return result.library.pictures[result.library.files[member.file].picture].data;
}

// A score is meaningful to four digits; more would only show noise.
double rounded(float score) { return std::round(static_cast<double>(score) * 10000) / 10000; }

void write_member(const SearchResult& result, const Member& m, JsonText& out) {
  const File& file = result.library.files[m.file];
  const CatalogPicture& p = picture_of(result, m);
  out.open_object();
  add_path(out, file.entry.path);
  out.key("bytes").value(file.entry.size);
  out.key("width").value(p.width);
  out.key("height").value(p.height);
  out.key("damaged").value(!p.damage.empty());
  out.key("keep").value(m.keep);
  out.key("why").value(m.why);
  if (!m.warning.empty()) out.key("warning").value(m.warning);
  if (m.given > 0) out.key("given").value(m.given);
  if (p.exif_fields > 0) out.key("exif").value(p.exif_fields);
  if (m.as_good) out.key("as_good").value(true);
  if (!m.holds.empty()) {
    out.key("holds").open_array();
    for (const HoldingKind kind : m.holds) out.value(millrace::name_of(kind));
    out.close_array();
  }
  if (m.place[2] > m.place[0]) {
    out.key("place").open_array();
    for (const float side : m.place) out.value(rounded(side));
    out.close_array();
  }
  out.key("size").value(file.entry.size);
  out.key("mtime_ns").value(std::to_string(file.entry.mtime_ns));
  out.key("hash").value(hex_of_bytes(p.content));
  if (file.reference) out.key("reference").value(true);
  if (!p.taken.empty()) out.key("taken").value(p.taken);
  for (const auto& [name, paths] :
       {std::pair{"companions", &file.companions}, std::pair{"hard_links", &file.hard_links}}) {
    if (paths->empty()) continue;
    out.key(name).open_array();
    for (const std::string& path : *paths) {
      out.open_object();
      add_path(out, path);
      out.close_object();
    }
    out.close_array();
  }
  out.close_object();
}

void write_group(const SearchResult& result, const Group& group, JsonText out) {
  out.open_object();
  out.key("id").value(group.id);
  out.key("kind").value(name_of(group.kind));
  out.key("members").open_array();
  for (const Member& m : group.members) write_member(result, m, out);
  out.close_array();
  out.key("pairs").open_array();
  for (const GroupPair& pair : group.pairs) {
    out.open_object();
    out.key("a").value(pair.a);
    out.key("b").value(pair.b);
    out.key("distances").open_object();
    for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) out.key(name_of(kCatalogCodes[c])).value(pair.distances[c]);
    out.close_object();
    out.key("score").value(rounded(pair.score));
    out.close_object();
  }
  out.close_array();
  out.close_object();
}

// Appends the groups in blocks, as they appear in their list, two levels deep.
void append_groups(const SearchResult& result, const std::vector<Group>& groups, const Executor& executor,
                   std::vector<std::string>& pieces) {
  constexpr std::size_t kBlock = 256;
  const std::size_t first = pieces.size(), blocks = (groups.size() + kBlock - 1) / kBlock;
  pieces.resize(first + blocks);
  executor.parallel_for(blocks, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t block = from; block < to; ++block) {
      std::string& piece = pieces[first + block];
      for (std::size_t g = block * kBlock; g < std::min(groups.size(), (block + 1) * kBlock); ++g) {
        piece += "  ";
        write_group(result, groups[g], JsonText(piece, 2));
        piece += g + 1 < groups.size() ? ",\n" : "\n";
      }
    }
  });
  if (executor.cancelled()) throw Failure(interrupted("the result was not written"));
}

// Counts files that hold video, pages, RAW data and so on.
std::size_t count_holding_more(const SearchResult& result) {
  std::size_t count = 0;
  for (const auto* list : {&result.groups, &result.related}) {
    for (const Group& group : *list) {
      count += static_cast<std::size_t>(
          std::count_if(group.members.begin(), group.members.end(), [](const Member& m) { return !m.holds.empty(); }));
    }
  }
  return count;
}

// Lists the pictures that can be decoded only in part.
std::vector<Unreadable> damaged_files(const Library& library) {
  std::vector<Unreadable> out;
  for (const File& file : library.files) {
    if (file.picture == kNone) continue;
    const std::string& damage = library.pictures[file.picture].data.damage;
    if (!damage.empty()) out.push_back({file.entry.path, damage});
  }
  return out;
}

// Lists the first files for the summary.
std::string named(const char* what, const std::vector<Unreadable>& files) {
  if (files.empty()) return "";
  constexpr std::size_t kShown = 10;
  std::string out = fmt::format("{} {} {}:\n", grouped(files.size()), files.size() == 1 ? "file" : "files", what);
  for (std::size_t i = 0; i < std::min(kShown, files.size()); ++i) {
    out += fmt::format("  {}: {}\n", printable(files[i].path), printable(files[i].reason));
  }
  if (files.size() > kShown) out += "  ... --json lists them all\n";
  return out;
}

std::size_t count_of(const SearchResult& result, GroupKind kind) {
  return static_cast<std::size_t>(
      std::count_if(result.groups.begin(), result.groups.end(), [&](const Group& g) { return g.kind == kind; }));
}

}  // namespace

Json not_read_json(const NotRead& not_read) {
  Json out = Json::array();
  for (const auto& [kind, files] : not_read.kinds())
    out.push_back({{"kind", utf8_for_display(kind)}, {"files", files}});
  return out;
}

std::vector<std::string> json_of(const SearchResult& result, const Executor& executor) {
  std::vector<std::string> pieces;
  Json ends;
  ends[kJsonMark] = "dedupe";
  ends["groups"] = Json::array();
  ends["related"] = Json::array();
  const std::vector<Unreadable> damaged = damaged_files(result.library);
  for (const auto& [name, files] :
       {std::pair{"unreadable", &result.library.unreadable}, std::pair{"damaged", &damaged}}) {
    ends[name] = Json::array();
    for (const Unreadable& file : *files) {
      Json entry;
      add_path(entry, file.path);
      entry["reason"] = file.reason;
      ends[name].push_back(std::move(entry));
    }
  }
  ends["not_read"] = not_read_json(result.library.not_read);
  Json& totals = ends["totals"];
  totals["files"] = result.library.files.size();
  totals["bytes"] = result.library.bytes;
  totals["contents"] = result.library.pictures.size();
  totals["rule"] = result.rule.text;
  for (const GroupKind kind : kGroupKinds) {
    if (kind != GroupKind::related) totals[name_of(kind)] = count_of(result, kind);
  }
  totals["related"] = result.related.size();
  totals["unreadable"] = result.library.unreadable.size();
  totals["damaged"] = damaged.size();
  totals["not_read"] = result.library.not_read.files();
  totals["not_looked_at"] = result.not_looked;
  totals["reclaimable_bytes"] = result.reclaimable;

  // A tree of a hundred thousand groups would take several times the memory of the text. So each group is written by
  // itself, in the place of the empty list in the rest.
  std::string rest = ends.dump(1) + "\n";
  for (const auto& [name, groups] : {std::pair{"groups", &result.groups}, std::pair{"related", &result.related}}) {
    if (groups->empty()) continue;
    const std::string empty = fmt::format("\n \"{}\": []", name);
    const std::size_t at = rest.find(empty);
    pieces.push_back(rest.substr(0, at + empty.size() - 1) + "\n");
    append_groups(result, *groups, executor, pieces);
    rest = " " + rest.substr(at + empty.size() - 1);
  }
  pieces.push_back(std::move(rest));
  return pieces;
}

OutputKind json_kind() {
  return {"the result of millrace dedupe", Readers::owner,
          json_result("dedupe", {"groups", "related", "unreadable", "totals"})};
}

OutputKind csv_kind() { return {"a list of duplicates", Readers::owner, table_with_header(kCsvHeader)}; }

std::string csv_of(const SearchResult& result) {
  std::string out = std::string(kCsvHeader) + "\n";
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

void write_page(const SearchResult& result, const Options& options, Catalog& catalog, const Output& output,
                RunContext& context) {
  const Previews previews(result, options, catalog, context);
  PageHeader header;
  header.preview_side = previews.side();
  header.title = "Millrace: duplicates";
  header.folders = options.folders;
  header.files = result.library.files.size() + result.library.others.size();
  header.pictures = result.library.files.size();
  header.groups = result.groups.size() + result.related.size();
  header.reclaimable = result.reclaimable;
  for (const Unreadable& file : result.library.unreadable) header.unreadable.push_back({file.path, file.reason});
  for (const Unreadable& file : damaged_files(result.library)) header.damaged.push_back({file.path, file.reason});
  header.rule =
      options.verify
          ? fmt::format("Candidates by {}, each verified on its pixels{}. Kept: {}.", result.rule.text,
                        options.look == LookMode::close ? "; what is suggested, looked at closely" : "", options.keep)
          : fmt::format("Linked by {} alone. Kept: {}.", result.rule.text, options.keep);
  DuplicatesPage page(output, header);
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
        member.warning = m.warning;
        member.given = m.given;
        member.exif = p.exif_fields;
        member.as_good = m.as_good;
        for (const HoldingKind kind : m.holds) member.holds.emplace_back(millrace::name_of(kind));
        member.place = m.place;
        member.companions = file.companions;
        member.thumb = previews.of(p);
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

std::string summary_of(const SearchResult& result) {
  const Library& library = result.library;
  std::string out = fmt::format("{} pictures ({}) in {}: {} decoded, {} unchanged\n", grouped(library.files.size()),
                                to_text(Bytes{library.bytes}), duration_text(result.seconds), grouped(library.decoded),
                                grouped(library.unchanged));
  out += fmt::format("{} groups of identical files, {} of the same pixels, {} of similar pictures; {} could be freed\n",
                     grouped(count_of(result, GroupKind::identical)), grouped(count_of(result, GroupKind::same_pixels)),
                     grouped(count_of(result, GroupKind::similar)), to_text(Bytes{result.reclaimable}));
  // Neither number includes the other: pairs that an earlier run compared are also checked in detail.
  if (result.looked_at > 0 || result.looked_closely > 0) {
    out += fmt::format("{} pairs compared by their thumbnails, {} looked at closely\n", grouped(result.looked_at),
                       grouped(result.looked_closely));
  }
  std::vector<std::string> shown;
  for (const GroupKind kind : kGroupKinds) {
    if (kind <= GroupKind::similar) continue;
    const std::size_t count = kind == GroupKind::related ? result.related.size() : count_of(result, kind);
    if (count > 0) shown.push_back(fmt::format("{} {}", grouped(count), name_of(kind)));
  }
  if (!shown.empty()) out += fmt::format("also, with nothing to remove: {}\n", fmt::join(shown, ", "));
  if (result.not_looked > 0) {
    out += fmt::format("{} pictures were not looked at closely, so nothing of them is suggested\n",
                       grouped(result.not_looked));
  }
  if (const std::size_t more = count_holding_more(result); more > 0)
    out += fmt::format("files in groups that hold more than the picture that was compared: {}\n", grouped(more));
  out += named("damaged, and shown as far as they go", damaged_files(library));
  out += named("could not be used", library.unreadable);
  if (const std::string words = library.not_read.words(); !words.empty()) out += words + "\n";
  return out;
}

}  // namespace millrace::dedupe
