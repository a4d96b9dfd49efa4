#include "src/jobs/dedupe/review/saved_search.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/output/output.h"
#include "src/jobs/dedupe/page/page_id.h"

namespace millrace::dedupe {
namespace {

// Object of the result, with its name for messages.
class Object {
 public:
  Object(const Json& json, std::string name, const std::string& subject)
      : json_(json), name_(std::move(name)), subject_(subject) {
    if (!json.is_object()) wrong("it is not an object");
  }

  [[noreturn]] void wrong(const std::string& what) const {
    throw Failure(ErrorCode::bad_data, fmt::format("{}: {}", name_, what), subject_,
                  "write it again with millrace dedupe --json");
  }

  bool has(const char* key) const { return json_.contains(key); }
  std::string text(const char* key) const {
    const auto at = json_.find(key);
    if (!at) return "";
    if (!at->is_string()) wrong(fmt::format("its {} is not text", key));
    return at->get<std::string>();
  }
  std::uint64_t number(const char* key, std::uint64_t most) const {
    const auto at = json_.find(key);
    if (!at) return 0;
    if (!at->is_number_unsigned() || at->get<std::uint64_t>() > most)
      wrong(fmt::format("its {} is not a number from 0 to {}", key, most));
    return at->get<std::uint64_t>();
  }
  bool flag(const char* key) const {
    const auto at = json_.find(key);
    if (!at) return false;
    if (!at->is_boolean()) wrong(fmt::format("its {} is neither true nor false", key));
    return at->get<bool>();
  }
  const Json& list(const char* key) const {
    static const Json none = Json::array();
    const auto at = json_.find(key);
    if (!at) return none;
    if (!at->is_array()) wrong(fmt::format("its {} is not a list", key));
    return *at;
  }
  // Returns the score; NaN for pairs without one.
  double score() const {
    const auto at = json_.find("score");
    if (!at || at->is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!at->is_number() || !(at->get<double>() >= 0 && at->get<double>() <= 1)) wrong("its score is not from 0 to 1");
    return at->get<double>();
  }
  auto entries() const { return json_.items(); }
  Object object(const char* key) const {
    static const Json none = Json::object();
    const auto at = json_.find(key);
    return {!at ? none : *at, fmt::format("{}: {}", name_, key), subject_};
  }
  std::vector<Object> objects(const char* key, const char* one) const {
    std::vector<Object> out;
    for (const Json& json : list(key)) {
      const std::string number = fmt::format("{} {}", one, out.size() + 1);
      out.emplace_back(json, name_.empty() ? number : name_ + ", " + number, subject_);
    }
    return out;
  }
  // Returns the path's bytes.
  std::string path() const {
    std::string out = text("path");
    if (const std::string encoded = text("path_base64"); !encoded.empty()) {
      const auto bytes = from_base64(encoded);
      if (!bytes) wrong("its path_base64 is not Base64");
      out = *bytes;
    }
    if (!out.starts_with('/') || out.find('\0') != std::string::npos) wrong("its path is not absolute");
    return out;
  }

 private:
  const Json& json_;
  std::string name_;
  const std::string& subject_;
};

constexpr std::uint64_t kAny = UINT64_MAX, kMaxSide = 1'000'000'000, kMaxCount = 1'000'000;

PageMember parse_member(const Object& json) {
  PageMember out;
  out.path = json.path();
  out.size = json.number("size", kAny);
  out.width = static_cast<std::uint32_t>(json.number("width", kMaxSide));
  out.height = static_cast<std::uint32_t>(json.number("height", kMaxSide));
  const std::string time = json.text("mtime_ns");
  if (!read_number(time, out.mtime_ns)) json.wrong("its mtime_ns is not a whole number");
  out.date = json.text("taken");
  out.hash = json.text("hash");
  if (!content_hash_from_hex(out.hash)) json.wrong("its hash is not 32 hexadecimal digits");
  out.user_metadata_score = static_cast<int>(json.number("given", kMaxCount));
  out.exif = static_cast<int>(json.number("exif", kMaxCount));
  out.is_interchangeable = json.flag("as_good");
  for (const Json& kind : json.list("holds")) {
    if (!kind.is_string()) json.wrong("its holds contain a value that is not text");
    out.holds.push_back(kind.get<std::string>());
  }
  out.damaged = json.flag("damaged");
  out.reference = json.flag("reference");
  out.keep = json.flag("keep");
  out.why = json.text("why");
  out.warning = json.text("warning");
  if (const Json& place = json.list("place"); !place.empty()) {
    if (place.size() != out.place.size()) json.wrong("its place does not have four sides");
    for (std::size_t i = 0; i < out.place.size(); ++i) {
      const double side = place[i].is_number() ? place[i].get<double>() : -1;
      if (!(side >= 0 && side <= 1)) json.wrong("its place is not within the picture");
      out.place[i] = static_cast<float>(side);
    }
  }
  for (const Object& companion : json.objects("companions", "companion")) out.companions.push_back(companion.path());
  return out;
}

PagePair parse_pair(const Object& json, std::size_t members) {
  PagePair out;
  out.a = static_cast<std::uint32_t>(json.number("a", kMaxCount));
  out.b = static_cast<std::uint32_t>(json.number("b", kMaxCount));
  if (out.a >= members || out.b >= members || out.a == out.b) json.wrong("it does not name two members of its group");
  out.score = json.score();
  const Object distances = json.object("distances");
  for (const auto& [name, value] : distances.entries()) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= kMaxCount) out.distances[name] = value.get<int>();
  }
  return out;
}

std::vector<PageUnreadable> parse_files(const Object& json, const char* list) {
  std::vector<PageUnreadable> out;
  for (const Object& file : json.objects(list, list)) out.push_back({file.path(), file.text("reason")});
  return out;
}

GroupKind parse_kind(const Object& json) {
  const std::string name = json.text("kind");
  for (const GroupKind kind : kGroupKinds) {
    if (name == name_of(kind)) return kind;
  }
  json.wrong("its kind is not supported by this version");
}

}  // namespace

SavedSearch read_saved_search(const std::string& text, const std::string& subject) {
  const Json json = Json::parse_or_null(text);
  if (!json.is_object() || json.empty() || json.items()[0].key != kJsonMark || json.items()[0].value != "dedupe") {
    throw Failure(ErrorCode::bad_data, "this is not a result of millrace dedupe", subject,
                  "name a file that millrace dedupe --json FILE wrote");
  }
  const Object top(json, "", subject);
  SavedSearch out;
  out.header.title = "Millrace: duplicates";
  const Object totals = top.object("totals");
  out.header.files = totals.number("files", kAny);
  out.header.pictures = out.header.files;
  out.header.reclaimable = totals.number("reclaimable_bytes", kAny);
  if (const std::string rule = totals.text("rule"); !rule.empty())
    out.header.rule = fmt::format("Pictures with similar hashes were found by the rule {}.", rule);
  out.header.unreadable = parse_files(top, "unreadable");
  out.header.damaged = parse_files(top, "damaged");
  std::unordered_map<std::string, std::uint32_t> id_of;
  std::vector<std::size_t> seen_in;  // for each file, the last group that contains it, from 1
  std::unordered_set<std::string> group_ids;
  PageId page;
  for (const char* list : {"groups", "related"}) {
    for (const Object& object : top.objects(list, "group")) {
      PageGroup group;
      group.id = object.text("id");
      group.kind = parse_kind(object);
      std::vector<std::uint32_t> ids;
      for (const Object& member : object.objects("members", "member")) {
        group.members.push_back(parse_member(member));
        const PageMember& m = group.members.back();
        const auto [at, added] = id_of.emplace(m.path, static_cast<std::uint32_t>(out.files.size()));
        if (added) {
          out.files.push_back(
              {m.path, m.size, m.mtime_ns, m.hash, static_cast<int>(m.width), static_cast<int>(m.height)});
          seen_in.push_back(0);
        }
        const SavedFile& file = out.files[at->second];
        if (file.size != m.size || file.mtime_ns != m.mtime_ns || file.hash != m.hash)
          member.wrong("another group has another size, time or hash for this file");
        const std::size_t number = out.groups.size() + 1;
        if (std::exchange(seen_in[at->second], number) == number) member.wrong("it is in its group twice");
        ids.push_back(at->second);
      }
      if (group.id.empty() || group.members.size() < 2) object.wrong("it has no id, or fewer than two members");
      if (!group_ids.insert(group.id).second) object.wrong("another group has the same id");
      for (const Object& pair : object.objects("pairs", "pair"))
        group.pairs.push_back(parse_pair(pair, group.members.size()));
      page.add(group);
      out.groups.push_back(std::move(group));
      out.ids.push_back(std::move(ids));
    }
  }
  out.header.groups = out.groups.size();
  out.page_id = page.hex();
  return out;
}

}  // namespace millrace::dedupe
