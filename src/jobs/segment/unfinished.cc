#include "src/jobs/segment/unfinished.h"

#include <filesystem>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"
#include "src/io/output/output.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::segment {
namespace {

constexpr const char *kRowsMark = "segment rows", *kRunMark = "segment unfinished";
constexpr const char *kSavedFile = "rows.json", *kFailedFile = "failed.txt";

std::uint64_t number_of(const std::string& name) {
  // Locks are on bytes of a file, whose offsets are signed.
  return short_hash(std::span(reinterpret_cast<const std::uint8_t*>(name.data()), name.size())) >> 2;
}

}  // namespace

std::uint64_t Unfinished::number(const std::string& name) { return number_of(name); }

Unfinished::Unfinished(const std::string& output, const std::string& made_of, const Share& share)
    : folder_(path_in(output, "unfinished")), shared_(share) {
  folder_.hold(shared_ ? RunFolder::Hold::shared : RunFolder::Hold::alone);
  // A run.json in the folder marks it as a run's.
  const std::string run = folder_.path(RunFolder::kRunFile);
  std::error_code error;
  const auto text = read_text(run, 1 << 16);
  const Json json = text ? Json::parse_or_null(*text) : Json();
  if (text && (!json.is_object() || json.value(kJsonMark, Json()) != kRunMark)) {
    throw Failure(ErrorCode::conflict, "what another job has not finished lies in it", folder_.name(),
                  "finish that, or give another folder");
  }
  if (text && json.value("made_of", Json()) != made_of) {
    throw Failure(ErrorCode::conflict, "what another run has not finished lies in it, made otherwise", folder_.name(),
                  "give the options of that run, or remove it");
  }
  if (!std::filesystem::exists(run, error))
    write_file(run, Json({{kJsonMark, kRunMark}, {"made_of", made_of}}).dump() + "\n");
  if (shared_) agree_on_runs(folder_, share);
}

bool Unfinished::claim(const std::string& name) { return folder_.claim(number_of(name)); }
void Unfinished::let_go(const std::string& name) { folder_.unclaim(number_of(name)); }

std::string Unfinished::folder(const std::string& name) {
  std::string out = folder_.path(std::to_string(number_of(name)));
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw Failure(folder_.in_words(system_error("the folder cannot be made", printable(out), error.value())));
  return out;
}

std::optional<Saved> Unfinished::saved(const std::string& name, const std::string& source) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  const auto text = read_text(path_in(folder(name), kSavedFile), kMostBytes);
  if (!text || text->size() > kMostBytes) return std::nullopt;
  const Json json = Json::parse_or_null(*text);
  if (!json.is_object() || json.value(kJsonMark, Json()) != kRowsMark || json.value("source", Json()) != source)
    return std::nullopt;
  try {
    Saved out;
    out.source = source;
    out.rows = json.at("rows").get<std::uint64_t>();
    out.next_row = json.at("next_row").get<std::uint64_t>();
    out.windows = json.at("windows").get<std::uint64_t>();
    for (const Json& each : json.at("heads")) {
      HeadResult& head = out.heads.emplace_back();
      for (const Json& one : each.at("classes"))
        head.classes.push_back(
            {one.at(0).get<std::uint64_t>(), one.at(1).get<std::uint64_t>(), one.at(2).get<double>()});
      for (const Json& one : each.at("peaks"))
        head.peaks.push_back(one.empty() ? std::nullopt
                                         : std::optional(Peak{one.at(0).get<double>(), one.at(1).get<double>(),
                                                              one.at(2).get<double>()}));
      head.votes = {each.at("votes").at(0).get<std::uint64_t>(), each.at("votes").at(1).get<std::uint64_t>()};
    }
    out.previews = json.at("previews").get<std::vector<std::string>>();
    out.outputs = json.at("outputs").get<std::map<std::string, std::string>>();
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;  // not written by this program
  }
}

void Unfinished::save(const std::string& name, const Saved& saved) {
  // JSON cannot store NaN or infinity. A sum that is not finite ends the image anyway.
  Json heads = Json::array();
  for (const HeadResult& head : saved.heads) {
    Json classes = Json::array(), peaks = Json::array();
    for (const ClassResult& each : head.classes) classes.push_back({each.pixels, each.at_edge, each.mean});
    for (const std::optional<Peak>& each : head.peaks)
      peaks.push_back(each ? Json::array({each->x, each->y, each->value}) : Json::array());
    heads.push_back({{"classes", classes}, {"peaks", peaks}, {"votes", {head.votes.differ, head.votes.any}}});
  }
  const Json json = {{kJsonMark, kRowsMark},       {"source", saved.source},   {"rows", saved.rows},
                     {"next_row", saved.next_row}, {"windows", saved.windows}, {"heads", heads},
                     {"previews", saved.previews}, {"outputs", saved.outputs}};
  write_file(path_in(folder(name), kSavedFile), json.dump(1) + "\n");
}

void Unfinished::drop(const std::string& name) {
  std::error_code error;
  std::filesystem::remove_all(folder_.path(std::to_string(number_of(name))), error);
}

void Unfinished::fail(const std::string& name, const Error& error) {
  drop(name);
  if (shared_) write_file(path_in(folder(name), kFailedFile), printable(error.message()) + "\n");
}

std::optional<std::string> Unfinished::why_failed(const std::string& name) const {
  constexpr std::uint64_t kMostBytes = 1 << 16;
  const auto text = read_text(path_in(folder_.path(std::to_string(number_of(name))), kFailedFile), kMostBytes);
  return text ? std::optional(std::string(trim(*text))) : std::nullopt;
}

bool Unfinished::is_empty() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("."), error))
    if (entry.is_directory(error)) return false;
  return true;
}

bool Unfinished::is_last() {
  if (!shared_) return true;
  folder_.let_others_in();
  return folder_.hold_alone();
}

}  // namespace millrace::segment
