#include "src/jobs/dedupe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/page/duplicates_page.h"
#include "src/jobs/dedupe/page/previews.h"
#include "src/report/json_path.h"

namespace millrace::dedupe {
namespace {

// A CSV table has no place for a format mark, so its header serves as one.
constexpr const char* kCsvHeader = "group,kind,path,bytes,width,height,damaged,keep,why";

const CatalogPicture& picture_of(const SearchResult& result, const GroupMember& member) {
  return result.library.pictures[result.library.files[member.file].picture].data;
}

// A score is meaningful to four digits; more would only show noise.
double round_score(float score) { return std::round(static_cast<double>(score) * 10000) / 10000; }

void write_member(const SearchResult& result, const GroupMember& m, JsonWriter& out) {
  const LibraryFile& file = result.library.files[m.file];
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
  if (m.user_metadata_score > 0) out.key("given").value(m.user_metadata_score);
  if (p.exif_fields > 0) out.key("exif").value(p.exif_fields);
  if (m.is_interchangeable) out.key("as_good").value(true);
  if (!m.holds.empty()) {
    out.key("holds").open_array();
    for (const ExtraDataKind kind : m.holds) out.value(millrace::name_of(kind));
    out.close_array();
  }
  if (m.place[2] > m.place[0]) {
    out.key("place").open_array();
    for (const float side : m.place) out.value(round_score(side));
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

void write_group(const SearchResult& result, const Group& group, JsonWriter out) {
  out.open_object();
  out.key("id").value(group.id);
  out.key("kind").value(name_of(group.kind));
  out.key("members").open_array();
  for (const GroupMember& m : group.members) write_member(result, m, out);
  out.close_array();
  out.key("pairs").open_array();
  for (const GroupPair& pair : group.pairs) {
    out.open_object();
    out.key("a").value(pair.a);
    out.key("b").value(pair.b);
    out.key("distances").open_object();
    for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) out.key(name_of(kCatalogCodes[c])).value(pair.distances[c]);
    out.close_object();
    out.key("score").value(round_score(pair.score));
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
        write_group(result, groups[g], JsonWriter(piece, 2));
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
      count += static_cast<std::size_t>(std::count_if(group.members.begin(), group.members.end(),
                                                      [](const GroupMember& m) { return !m.holds.empty(); }));
    }
  }
  return count;
}

// Lists the pictures that can be decoded only in part.
std::vector<UnreadableFile> damaged_files(const Library& library) {
  std::vector<UnreadableFile> out;
  for (const LibraryFile& file : library.files) {
    if (file.picture == kNone) continue;
    const std::string& damage = library.pictures[file.picture].data.damage;
    if (!damage.empty()) out.push_back({file.entry.path, damage});
  }
  return out;
}

// Lists the first files for the summary.
std::string list_files(const char* what, const std::vector<UnreadableFile>& files) {
  if (files.empty()) return "";
  constexpr std::size_t kShown = 10;
  std::string out = fmt::format("{} {} {}:\n", group_digits(files.size()), files.size() == 1 ? "file" : "files", what);
  for (std::size_t i = 0; i < std::min(kShown, files.size()); ++i) {
    out += fmt::format("  {}: {}\n", escape_unprintable(files[i].path), escape_unprintable(files[i].reason));
  }
  if (files.size() > kShown) out += "  ...; --json lists all of them\n";
  return out;
}

std::size_t count_of(const SearchResult& result, GroupKind kind) {
  return static_cast<std::size_t>(
      std::count_if(result.groups.begin(), result.groups.end(), [&](const Group& g) { return g.kind == kind; }));
}

}  // namespace

Json not_read_json(const UnsupportedFiles& unsupported_files) {
  Json out = Json::array();
  for (const auto& [kind, files] : unsupported_files.kinds())
    out.push_back({{"kind", replace_invalid_utf8(kind)}, {"files", files}});
  return out;
}

std::vector<std::string> json_of(const SearchResult& result, const Executor& executor) {
  std::vector<std::string> pieces;
  Json ends;
  ends[kJsonMark] = "dedupe";
  ends["groups"] = Json::array();
  ends["related"] = Json::array();
  const std::vector<UnreadableFile> damaged = damaged_files(result.library);
  for (const auto& [name, files] :
       {std::pair{"unreadable", &result.library.unreadable}, std::pair{"damaged", &damaged}}) {
    ends[name] = Json::array();
    for (const UnreadableFile& file : *files) {
      Json entry;
      add_path(entry, file.path);
      entry["reason"] = file.reason;
      ends[name].push_back(std::move(entry));
    }
  }
  ends["not_read"] = not_read_json(result.library.unsupported_files);
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
  totals["not_read"] = result.library.unsupported_files.files();
  totals["not_looked_at"] = result.unchecked_pictures;
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
  return {"the result of millrace dedupe", ReadAccess::owner,
          make_json_recognizer("dedupe", {"groups", "related", "unreadable", "totals"})};
}

OutputKind csv_kind() { return {"a list of duplicates", ReadAccess::owner, make_table_recognizer(kCsvHeader)}; }

std::string csv_of(const SearchResult& result) {
  std::string out = std::string(kCsvHeader) + "\n";
  for (const Group& group : result.groups) {
    for (const GroupMember& m : group.members) {
      const LibraryFile& file = result.library.files[m.file];
      const CatalogPicture& p = picture_of(result, m);
      out += fmt::format("{},{},{},{},{},{},{},{},{}\n", group.id, name_of(group.kind),
                         quote_csv_field(replace_invalid_utf8(file.entry.path)), file.entry.size, p.width, p.height,
                         !p.damage.empty(), m.keep, quote_csv_field(m.why));
    }
  }
  return out;
}

void write_page(const SearchResult& result, const DedupeOptions& options, Catalog& catalog, const OutputTarget& output,
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
  for (const UnreadableFile& file : result.library.unreadable) header.unreadable.push_back({file.path, file.reason});
  for (const UnreadableFile& file : damaged_files(result.library)) header.damaged.push_back({file.path, file.reason});
  header.rule =
      options.verify
          ? fmt::format(
                "Pictures with similar hashes ({}) were compared by their pixels. {} Criteria for the copy to keep: "
                "{}.",
                result.rule.text,
                options.check == CheckMode::close
                    ? "Every suggested removal was checked in detail against the kept picture, or has its bytes."
                    : "Only identical files are suggested for removal.",
                options.keep)
          : fmt::format(
                "Pictures were matched by their hashes alone ({}). Only identical files are suggested for removal. "
                "Criteria for the copy to keep: {}.",
                result.rule.text, options.keep);
  DuplicatesPage page(output, header);
  for (const auto* list : {&result.groups, &result.related}) {
    for (const Group& group : *list) {
      PageGroup out;
      out.id = group.id;
      out.kind = group.kind;
      for (const GroupMember& m : group.members) {
        const LibraryFile& file = result.library.files[m.file];
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
        member.user_metadata_score = m.user_metadata_score;
        member.exif = p.exif_fields;
        member.is_interchangeable = m.is_interchangeable;
        for (const ExtraDataKind kind : m.holds) member.holds.emplace_back(millrace::name_of(kind));
        member.place = m.place;
        member.companions = file.companions;
        member.thumb = previews.find_jpeg(p);
        out.members.push_back(std::move(member));
      }
      for (const GroupPair& pair : group.pairs) {
        PagePair shown{pair.a, pair.b, round_score(pair.score), {}};
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
  std::string out =
      fmt::format("{} pictures ({}) in {}: {} decoded, {} unchanged\n", group_digits(library.files.size()),
                  format_bytes(Bytes{library.bytes}), format_duration(result.seconds), group_digits(library.decoded),
                  group_digits(library.unchanged));
  out += fmt::format("{} groups of identical files, {} of the same pixels, {} of similar pictures; {} could be freed\n",
                     group_digits(count_of(result, GroupKind::identical)),
                     group_digits(count_of(result, GroupKind::same_pixels)),
                     group_digits(count_of(result, GroupKind::similar)), format_bytes(Bytes{result.reclaimable}));
  // Neither number includes the other: pairs that an earlier run compared are also checked in detail.
  if (result.compared_pairs > 0 || result.checked_pairs > 0) {
    out += fmt::format("{} pairs compared by their thumbnails, {} checked in detail\n",
                       group_digits(result.compared_pairs), group_digits(result.checked_pairs));
  }
  std::vector<std::string> shown;
  for (const GroupKind kind : kGroupKinds) {
    if (kind <= GroupKind::similar) continue;
    const std::size_t count = kind == GroupKind::related ? result.related.size() : count_of(result, kind);
    if (count > 0) shown.push_back(fmt::format("{} {}", group_digits(count), name_of(kind)));
  }
  if (!shown.empty()) out += fmt::format("also found, with no removal suggested: {}\n", fmt::join(shown, ", "));
  if (result.unchecked_pictures > 0) {
    out += fmt::format(
        "{} pictures were not checked in detail, so only identical copies of them are suggested for removal\n",
        group_digits(result.unchecked_pictures));
  }
  if (const std::size_t more = count_holding_more(result); more > 0)
    out += fmt::format("files in groups that hold more than the compared picture, such as video or RAW data: {}\n",
                       group_digits(more));
  out += list_files("damaged (only partly readable)", damaged_files(library));
  out += list_files("could not be read", library.unreadable);
  if (const std::string description = library.unsupported_files.description(); !description.empty())
    out += description + "\n";
  return out;
}

}  // namespace millrace::dedupe
