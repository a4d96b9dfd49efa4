#include "src/jobs/segment/record.h"

#include <fmt/format.h>

#include <limits>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/output/output.h"
#include "src/io/store/checksums.h"

namespace millrace::segment {
namespace {

constexpr const char* kRecordMark = "segment picture";
constexpr std::uint64_t kMaxRecordBytes = 4 << 20;

// Returns the record in a file; null if there is none.
Json record_in(const std::string& file) {
  const auto text = read_text(file, kMaxRecordBytes);
  if (!text || text->size() > kMaxRecordBytes) return {};
  Json json = Json::parse_or_null(*text);
  if (!json.is_object() || json.value(kJsonMark, Json()) != kRecordMark) return {};
  return json;
}

// Returns the entry of a class; it has the head's name if there are several heads.
Json entry_of(const model::Head& head, std::size_t c) {
  Json out;
  if (!head.name.empty()) out["output"] = head.name;
  out["name"] = replace_invalid_utf8(head.classes[c].name);
  return out;
}

Json members_of(const PictureResult& result, const Setup& setup) {
  Json out, classes = Json::array(), points = Json::array(), values = Json::array();
  for (std::size_t h = 0; h < result.heads.size(); ++h) {
    const model::Head& head = setup.heads[h];
    const HeadResult& found = result.heads[h];
    for (std::size_t c = 0; c < found.classes.size(); ++c) {
      Json one = entry_of(head, c);
      one["pixels"] = found.classes[c].pixels;
      one["edge_pixels"] = found.classes[c].at_edge;
      one["mean_probability"] = found.classes[c].mean;
      classes.push_back(std::move(one));
    }
    for (std::size_t c = 0; c < found.peaks.size(); ++c) {
      const auto& peak = found.peaks[c];
      Json one = entry_of(head, c);
      one["x"] = peak ? Json(peak->x) : Json();
      one["y"] = peak ? Json(peak->y) : Json();
      one["value"] = peak ? Json(peak->value) : Json();
      points.push_back(std::move(one));
    }
    for (std::size_t k = 0; k < found.numbers.size(); ++k) {
      Json one = entry_of(head, k % head.classes.size());
      if (head.task == model::ModelTask::regression && setup.models.size() > 1)
        one["model"] = setup.model_name(k / head.classes.size());
      one["value"] = found.numbers[k];
      values.push_back(std::move(one));
    }
  }
  const auto add = [&out](const char* key, Json& list) {
    if (!list.empty()) out[key] = std::move(list);
  };
  add("classes", classes);
  add("points", points);
  add("values", values);
  if (setup.models.size() > 1) {
    Json disagreement = Json::array();
    for (std::size_t h = 0; h < result.heads.size(); ++h) {
      if (setup.heads[h].task != model::ModelTask::segmentation) continue;
      Json one;
      if (!setup.heads[h].name.empty()) one["output"] = setup.heads[h].name;
      one["differ"] = result.heads[h].votes.differ;
      one["any"] = result.heads[h].votes.any;
      one["share"] = result.disagreement(h);
      disagreement.push_back(std::move(one));
    }
    add("disagreement", disagreement);
  }
  if (result.field) out["field_of_view"] = field_of_view_to_json(*result.field);
  return out;
}

std::optional<Peak> peak_of(const Json& json) {
  if (json.at("value").is_null()) return std::nullopt;
  return Peak{json.at("x").get<double>(), json.at("y").get<double>(), json.at("value").get<double>()};
}

[[noreturn]] void refuse_record() { throw Failure(ErrorCode::bad_data, "the record does not fit these networks"); }

// Returns the next entry of a list, which must belong to this class.
const Json& next_in(const Json& json, const char* list, std::size_t& at, const model::Head& head, std::size_t c) {
  const Json& out = json.at(list).at(at++);
  const Json wanted = entry_of(head, c);
  for (const auto& [key, value] : wanted.items())
    if (out.at(key) != value) refuse_record();
  return out;
}

void read_members(const Json& json, const Setup& setup, PictureResult& out) {
  const auto area = static_cast<std::uint64_t>(out.width) * static_cast<std::uint64_t>(out.height);
  std::size_t of_classes = 0, of_points = 0, of_values = 0, of_votes = 0;
  for (const model::Head& head : setup.heads) {
    HeadResult& one = out.heads.emplace_back();
    if (head.task == model::ModelTask::segmentation) {
      for (std::size_t c = 0; c < head.classes.size(); ++c) {
        const Json& each = next_in(json, "classes", of_classes, head, c);
        one.classes.push_back({each.at("pixels").get<std::uint64_t>(), each.at("edge_pixels").get<std::uint64_t>(),
                               each.at("mean_probability").get<double>()});
        if (one.classes.back().pixels > area || one.classes.back().at_edge > one.classes.back().pixels) refuse_record();
      }
      if (setup.models.size() > 1) {
        const Json& each = json.at("disagreement").at(of_votes++);
        one.votes = {each.at("differ").get<std::uint64_t>(), each.at("any").get<std::uint64_t>()};
        if (one.votes.differ > one.votes.any) refuse_record();
      }
    } else if (head.task == model::ModelTask::keypoints) {
      for (std::size_t c = 0; c < head.classes.size(); ++c)
        one.peaks.push_back(peak_of(next_in(json, "points", of_points, head, c)));
    } else {
      const std::size_t networks = head.task == model::ModelTask::regression ? setup.models.size() : 1;
      for (std::size_t k = 0; k < networks * head.classes.size(); ++k)
        one.numbers.push_back(
            next_in(json, "values", of_values, head, k % head.classes.size()).at("value").get<double>());
    }
  }
  if ((json.contains("classes") ? json.at("classes").size() : 0) != of_classes) refuse_record();
  if (json.contains("field_of_view")) out.field = parse_field_of_view(json.at("field_of_view"));
}

}  // namespace

double PictureResult::disagreement(std::size_t head) const {
  const model::Disagreement& votes = heads[head].votes;
  return votes.any == 0 ? 0 : static_cast<double>(votes.differ) / static_cast<double>(votes.any);
}

Json json_of(const PictureResult& result, const Setup& setup) {
  Json out;
  out["width"] = result.width;
  out["height"] = result.height;
  out["windows"] = result.windows;
  out["left_out"] = result.left_out;
  if (!result.damage.empty()) out["damaged"] = result.damage;
  if (result.unshown.any()) out["holds"] = name_unshown_data(result.unshown);
  if (!result.cuts.empty()) out["contours_cut_above_rows"] = result.cuts;
  out.update(members_of(result, setup));
  return out;
}

std::string format_record(const PictureResult& result, const Setup& setup) {
  Json out = {{kJsonMark, kRecordMark}};
  out["name"] = replace_invalid_utf8(result.name);
  out["hash"] = result.hash;
  if (!result.roi.empty()) out["roi"] = result.roi;
  if (!result.runtime_and_cpu.empty()) out["made_by"] = replace_invalid_utf8(result.runtime_and_cpu);
  out.update(json_of(result, setup));
  out[kChecksums] = Json::parse(json_with_self_checksum(result.files));
  Json previews = Json::array();
  for (const HeadResult& head : result.heads)
    if (!head.preview.labels.empty())
      previews.push_back(
          {{"width", head.preview.width}, {"height", head.preview.height}, {"labels", text_of(head.preview)}});
  std::string without = add_self_checksum(out.dump(1) + "\n");
  if (previews.empty()) return without;
  out["previews"] = std::move(previews);
  std::string whole = add_self_checksum(out.dump(1) + "\n");
  // A record that is too large could not be read back; the page can do without previews.
  return whole.size() > kMaxRecordBytes ? without : whole;
}

std::string make_incomplete_record() { return Json({{kJsonMark, kRecordMark}}).dump(1) + "\n"; }

bool is_record(const std::string& file) { return !record_in(file).is_null(); }

std::optional<PictureResult> read_previous_result(const std::string& file, const Setup& setup) {
  const Json json = record_in(file);
  try {
    PictureResult out;
    out.hash = json.at("hash").get<std::string>();
    if (json.contains("roi")) out.roi = json.at("roi").get<std::string>();
    if (json.contains("made_by")) out.runtime_and_cpu = json.at("made_by").get<std::string>();
    const auto side = [&json](const char* key) {
      const auto value = json.at(key).get<std::int64_t>();
      if (value < 1 || value > std::numeric_limits<int>::max()) refuse_record();
      return static_cast<int>(value);
    };
    out.width = side("width");
    out.height = side("height");
    out.windows = json.at("windows").get<std::uint64_t>();
    out.left_out = json.at("left_out").get<std::uint64_t>();
    if (json.contains("damaged")) out.damage = json.at("damaged").get<std::string>();
    if (json.contains("holds")) out.unshown = parse_unshown_names(json.at("holds").get<std::vector<std::string>>());
    if (json.contains("contours_cut_above_rows"))
      out.cuts = json.at("contours_cut_above_rows").get<std::vector<std::uint32_t>>();
    read_members(json, setup, out);
    return out;
  } catch (const Json::Error&) {
    // The file was not written by this program.
  } catch (const Failure&) {
  }
  return std::nullopt;
}

std::vector<SmallMask> read_previews(const std::string& file, const Setup& setup, const PictureResult& of) {
  const Json json = record_in(file);
  std::vector<SmallMask> out(setup.heads.size());
  try {
    if (json.at("hash").get<std::string>() != of.hash) return {};
    std::size_t next = 0;
    for (std::size_t h = 0; h < out.size(); ++h) {
      const model::Head& head = setup.heads[h];
      if (head.task != model::ModelTask::segmentation) continue;
      const Json& each = json.at("previews").at(next++);
      out[h] = parse_small_mask(each.at("width").get<std::uint32_t>(), each.at("height").get<std::uint32_t>(),
                                each.at("labels").get<std::string>());
      const std::size_t labels = head.labels().size();
      for (const std::uint8_t label : out[h].labels)
        if (label >= labels) return {};
    }
    return out;
  } catch (const Json::Error&) {
  } catch (const Failure&) {
  }
  return {};
}

}  // namespace millrace::segment
