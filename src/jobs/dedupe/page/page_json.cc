#include "src/jobs/dedupe/page/page_json.h"

#include <fmt/format.h>

#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(replace_invalid_utf8(value));
  return list;
}

Json json_of(const PageMember& member) {
  Json json;
  json["path"] = replace_invalid_utf8(member.path);
  if (!member.path_base64.empty()) {
    json["path_base64"] = member.path_base64;
  } else if (!is_utf8(member.path)) {
    json["path_base64"] = to_base64(member.path);
  }
  json["size"] = member.size;
  json["width"] = member.width;
  json["height"] = member.height;
  json["mtime_ns"] = std::to_string(member.mtime_ns);
  if (!member.date.empty()) json["date"] = replace_invalid_utf8(member.date);
  if (!member.camera.empty()) json["camera"] = replace_invalid_utf8(member.camera);
  json["hash"] = replace_invalid_utf8(member.hash);
  if (member.user_metadata_score > 0) json["given"] = member.user_metadata_score;
  if (member.exif > 0) json["exif"] = member.exif;
  if (!member.holds.empty()) json["holds"] = texts(member.holds);
  if (member.is_interchangeable) json["as_good"] = true;
  if (member.damaged) json["damaged"] = true;
  if (member.reference) json["reference"] = true;
  if (member.keep) json["keep"] = true;
  if (!member.why.empty()) json["why"] = replace_invalid_utf8(member.why);
  if (!member.warning.empty()) json["warning"] = replace_invalid_utf8(member.warning);
  if (member.place[2] > member.place[0]) json["place"] = member.place;
  if (!member.companions.empty()) json["companions"] = texts(member.companions);
  return json;
}

Json json_of(const PagePair& pair) {
  Json json;
  json["a"] = pair.a;
  json["b"] = pair.b;
  json["score"] = pair.score;  // NaN is written as null
  json["distances"] = Json::object();
  for (const auto& [name, distance] : pair.distances) {
    json["distances"][replace_invalid_utf8(name)] = distance;
  }
  return json;
}

}  // namespace

Json json_of(const PageGroup& group) {
  Json json;
  json["id"] = replace_invalid_utf8(group.id);
  json["kind"] = name_of(group.kind);
  json["members"] = Json::array();
  for (const PageMember& member : group.members) json["members"].push_back(json_of(member));
  json["pairs"] = Json::array();
  for (const PagePair& pair : group.pairs) json["pairs"].push_back(json_of(pair));
  return json;
}

Json json_of(const PageHeader& header, const std::string& thumbs_url) {
  Json json;
  json["title"] = replace_invalid_utf8(header.title);
  json["folders"] = texts(header.folders);
  json["totals"] = {{"files", header.files},
                    {"pictures", header.pictures},
                    {"groups", header.groups},
                    {"reclaimable", header.reclaimable}};
  for (const auto& [name, files] :
       {std::pair{"unreadable", &header.unreadable}, std::pair{"damaged", &header.damaged}}) {
    json[name] = Json::array();
    for (const PageUnreadable& one : *files) {
      json[name].push_back({{"path", replace_invalid_utf8(one.path)}, {"reason", replace_invalid_utf8(one.reason)}});
    }
  }
  json["rule"] = replace_invalid_utf8(header.rule);
  json["thumbs"] = thumbs_url;
  if (header.preview_side > 128) json["preview"] = header.preview_side;
  return json;
}

// No '<' can begin a closing tag or a comment. '<' occurs only inside JSON strings, where its escape means the same.
std::string script_text(const Json& value) {
  const std::string text = value.dump();
  std::string safe;
  safe.reserve(text.size() + 16);
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string url_component(std::string_view bytes) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string url;
  for (const char c : bytes) {
    if (plain.find(c) != std::string_view::npos) {
      url += c;
    } else {
      url += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return url;
}

}  // namespace millrace::dedupe
