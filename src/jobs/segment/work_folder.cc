#include "src/jobs/segment/work_folder.h"

#include <filesystem>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/output/output.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::segment {
namespace {

constexpr const char *kRowsMark = "segment rows", *kRunMark = "segment unfinished";
constexpr const char *kResumeStateFile = "rows.json", *kFailedFile = "failed.txt";

std::uint64_t number_of(const std::string& name) {
  // Locks are on bytes of a file, whose offsets are signed.
  return short_hash(std::span(reinterpret_cast<const std::uint8_t*>(name.data()), name.size())) >> 2;
}

}  // namespace

std::uint64_t WorkFolder::number(const std::string& name) { return number_of(name); }

WorkFolder::WorkFolder(const std::string& output, const std::string& provenance, const ShardSpec& shard_spec)
    : folder_(join_path(output, "unfinished")), shared_(shard_spec) {
  folder_.hold(shared_ ? RunFolder::Hold::shared : RunFolder::Hold::alone);
  // A run.json in the folder marks it as a run's.
  const std::string run = folder_.path(RunFolder::kRunFile);
  std::error_code error;
  const auto text = read_text(run, 1 << 16);
  const Json json = text ? Json::parse_or_null(*text) : Json();
  if (text && (!json.is_object() || json.value(kJsonMark, Json()) != kRunMark)) {
    throw Failure(ErrorCode::conflict, "it holds unfinished work of another job", folder_.name(),
                  "finish that job, or name another folder");
  }
  if (text && json.value("made_of", Json()) != provenance) {
    throw Failure(ErrorCode::conflict, "it holds unfinished results of a run with other options", folder_.name(),
                  "use the options of that run, or remove this folder");
  }
  if (!std::filesystem::exists(run, error))
    write_file(run, Json({{kJsonMark, kRunMark}, {"made_of", provenance}}).dump() + "\n");
  if (shared_) check_run_count(folder_, shard_spec);
}

bool WorkFolder::claim(const std::string& name) { return folder_.claim(number_of(name)); }
void WorkFolder::release_image(const std::string& name) { folder_.release_claim(number_of(name)); }

std::string WorkFolder::folder(const std::string& name) {
  std::string out = folder_.path(std::to_string(number_of(name)));
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error)
    throw Failure(
        folder_.restore_user_paths(system_error("the folder cannot be made", escape_unprintable(out), error.value())));
  return out;
}

std::optional<ResumeState> WorkFolder::resume_state(const std::string& name, const std::string& source) {
  constexpr std::uint64_t kMaxBytes = 16 << 20;
  const auto text = read_text(join_path(folder(name), kResumeStateFile), kMaxBytes);
  if (!text || text->size() > kMaxBytes) return std::nullopt;
  const Json json = Json::parse_or_null(*text);
  if (!json.is_object() || json.value(kJsonMark, Json()) != kRowsMark || json.value("source", Json()) != source)
    return std::nullopt;
  try {
    ResumeState out;
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

void WorkFolder::save(const std::string& name, const ResumeState& resume_state) {
  // JSON cannot store NaN or infinity. A sum that is not finite ends the image anyway.
  Json heads = Json::array();
  for (const HeadResult& head : resume_state.heads) {
    Json classes = Json::array(), peaks = Json::array();
    for (const ClassResult& each : head.classes) classes.push_back({each.pixels, each.at_edge, each.mean});
    for (const std::optional<Peak>& each : head.peaks)
      peaks.push_back(each ? Json::array({each->x, each->y, each->value}) : Json::array());
    heads.push_back({{"classes", classes}, {"peaks", peaks}, {"votes", {head.votes.differ, head.votes.any}}});
  }
  const Json json = {{kJsonMark, kRowsMark},
                     {"source", resume_state.source},
                     {"rows", resume_state.rows},
                     {"next_row", resume_state.next_row},
                     {"windows", resume_state.windows},
                     {"heads", heads},
                     {"previews", resume_state.previews},
                     {"outputs", resume_state.outputs}};
  write_file(join_path(folder(name), kResumeStateFile), json.dump(1) + "\n");
}

void WorkFolder::drop(const std::string& name) {
  std::error_code error;
  std::filesystem::remove_all(folder_.path(std::to_string(number_of(name))), error);
}

void WorkFolder::fail(const std::string& name, const Error& error) {
  drop(name);
  if (shared_) write_file(join_path(folder(name), kFailedFile), escape_unprintable(error.message()) + "\n");
}

std::optional<std::string> WorkFolder::read_failure(const std::string& name) const {
  constexpr std::uint64_t kMaxBytes = 1 << 16;
  const auto text = read_text(join_path(folder_.path(std::to_string(number_of(name))), kFailedFile), kMaxBytes);
  return text ? std::optional(std::string(trim(*text))) : std::nullopt;
}

bool WorkFolder::is_empty() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("."), error))
    if (entry.is_directory(error)) return false;
  return true;
}

bool WorkFolder::is_last() {
  if (!shared_) return true;
  folder_.release_hold();
  return folder_.hold_alone();
}

}  // namespace millrace::segment
