#include "src/jobs/segment/record.h"

#include <fmt/format.h>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/io/output/output.h"

namespace millrace::segment {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "segment picture";

// Null where there is none.
Json record_in(const std::string& file) {
  constexpr std::uint64_t kMostBytes = 64 << 20;
  const auto text = read_text(file, kMostBytes);
  if (!text || text->size() > kMostBytes) return {};
  Json json = Json::parse(*text, nullptr, false);
  return json.is_object() && json.value(kJsonMark, Json()) == kMark ? json : Json();
}

// With the head's name where there are several.
Json entry_of(const model::Head& head, std::size_t c) {
  Json out;
  if (!head.name.empty()) out["output"] = head.name;
  out["name"] = utf8_for_display(head.classes[c].name);
  return out;
}

// Of numbers of a picture: the class, and of which network it is.
std::size_t class_of(const model::Head& head, std::size_t k) { return k % head.classes.size(); }

// The file's name, and its place where another has the same.
std::string model_name(const Setup& setup, std::size_t k) {
  const auto name_of = [&](std::size_t j) { return utf8_for_display(file_name(setup.models[j].file.path)); };
  for (std::size_t j = 0; j < setup.models.size(); ++j)
    if (j != k && name_of(j) == name_of(k)) return fmt::format("{} ({})", name_of(k), k + 1);
  return name_of(k);
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
      Json one = entry_of(head, c);
      one["x"] = found.peaks[c].x;
      one["y"] = found.peaks[c].y;
      one["value"] = found.peaks[c].value;
      points.push_back(std::move(one));
    }
    for (std::size_t k = 0; k < found.numbers.size(); ++k) {
      Json one = entry_of(head, class_of(head, k));
      if (head.task == model::Task::regression && setup.models.size() > 1)
        one["model"] = model_name(setup, k / head.classes.size());
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
      if (setup.heads[h].task != model::Task::segmentation) continue;
      Json one;
      if (!setup.heads[h].name.empty()) one["output"] = setup.heads[h].name;
      one["differ"] = result.heads[h].votes.differ;
      one["any"] = result.heads[h].votes.any;
      one["share"] = result.disagreement(h);
      disagreement.push_back(std::move(one));
    }
    add("disagreement", disagreement);
  }
  if (result.field) out["field_of_view"] = json_of_field(*result.field);
  return out;
}

void read_members(const Json& json, const Setup& setup, PictureResult& out) {
  std::size_t of_classes = 0, of_points = 0, of_values = 0, of_votes = 0, of_previews = 0;
  const bool has_previews = json.contains("previews");
  for (const model::Head& head : setup.heads) {
    HeadResult& one = out.heads.emplace_back();
    if (head.task == model::Task::segmentation) {
      for (std::size_t c = 0; c < head.classes.size(); ++c) {
        const Json& each = json.at("classes").at(of_classes++);
        one.classes.push_back({each.at("pixels").get<std::uint64_t>(), each.value("edge_pixels", std::uint64_t{0}),
                               each.at("mean_probability").get<double>()});
      }
      if (setup.models.size() > 1) {
        const Json& each = json.at("disagreement").at(of_votes++);
        one.votes = {each.at("differ").get<std::uint64_t>(), each.at("any").get<std::uint64_t>()};
      }
      if (has_previews) {
        const Json& each = json.at("previews").at(of_previews++);
        one.preview = small_mask_of(each.at("width").get<std::uint32_t>(), each.at("height").get<std::uint32_t>(),
                                    each.at("labels").get<std::string>());
        for (const std::uint8_t label : one.preview.labels)
          if (label >= head.labels().size()) throw Failure(ErrorCode::bad_data, "a label is of no class");
      }
    } else if (head.task == model::Task::keypoints) {
      for (std::size_t c = 0; c < head.classes.size(); ++c) {
        const Json& each = json.at("points").at(of_points++);
        one.peaks.push_back({each.at("x").get<double>(), each.at("y").get<double>(), each.at("value").get<double>()});
      }
    } else {
      const std::size_t networks = head.task == model::Task::regression ? setup.models.size() : 1;
      for (std::size_t k = 0; k < networks * head.classes.size(); ++k)
        one.numbers.push_back(json.at("values").at(of_values++).at("value").get<double>());
    }
  }
  if ((json.contains("classes") ? json.at("classes").size() : 0) != of_classes)
    throw Failure(ErrorCode::bad_data, "it has another number of classes");
  if (json.contains("field_of_view")) out.field = field_of_json(json.at("field_of_view"));
}

}  // namespace

double PictureResult::disagreement(std::size_t head) const {
  const model::Votes& votes = heads[head].votes;
  return votes.any == 0 ? 0 : static_cast<double>(votes.differ) / static_cast<double>(votes.any);
}

Json json_of(const PictureResult& result, const Setup& setup) {
  Json out;
  out["width"] = result.width;
  out["height"] = result.height;
  out["windows"] = result.windows;
  out["left_out"] = result.left_out;
  if (!result.damage.empty()) out["damaged"] = result.damage;
  if (!result.cuts.empty()) out["contours_cut_above_rows"] = result.cuts;
  out.update(members_of(result, setup));
  return out;
}

std::string record_of(const PictureResult& result, const Setup& setup) {
  Json out = {{kJsonMark, kMark}};
  out["name"] = utf8_for_display(result.name);
  out["hash"] = result.hash;
  if (!result.roi.empty()) out["roi"] = result.roi;
  out.update(json_of(result, setup));
  Json previews = Json::array();
  for (const HeadResult& head : result.heads)
    if (!head.preview.labels.empty())
      previews.push_back(
          {{"width", head.preview.width}, {"height", head.preview.height}, {"labels", text_of(head.preview)}});
  if (!previews.empty()) out["previews"] = std::move(previews);
  return out.dump(1) + "\n";
}

std::string not_whole() { return Json({{kJsonMark, kMark}}).dump(1) + "\n"; }

bool is_record(const std::string& file) { return !record_in(file).is_null(); }

std::optional<PictureResult> earlier_result(const std::string& file, const Setup& setup) {
  const Json json = record_in(file);
  try {
    PictureResult out;
    out.hash = json.at("hash").get<std::string>();
    if (json.contains("roi")) out.roi = json.at("roi").get<std::string>();
    out.width = json.at("width").get<int>();
    out.height = json.at("height").get<int>();
    out.windows = json.at("windows").get<std::uint64_t>();
    out.left_out = json.at("left_out").get<std::uint64_t>();
    if (json.contains("damaged")) out.damage = json.at("damaged").get<std::string>();
    if (json.contains("contours_cut_above_rows"))
      out.cuts = json.at("contours_cut_above_rows").get<std::vector<std::uint32_t>>();
    read_members(json, setup, out);
    return out;
  } catch (const Json::exception&) {
    // Not as this program writes it.
  } catch (const Failure&) {
  }
  return std::nullopt;
}

std::string csv_of(const RecordTable& table) {
  std::string out;
  const auto add = [&out](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) out += (k == 0 ? "" : ",") + csv_field(cells[k]);
    out += '\n';
  };
  add(table.columns);
  for (const auto& row : table.rows) add(row);
  return out;
}

RecordTable table_of(const std::vector<PictureResult>& pictures, const Setup& setup) {
  RecordTable out{{"path", "width", "height", "windows", "left_out", "class", "pixels", "share", "mean_probability",
                   "damage", "output", "edge_pixels", "disagreement", "doubts"},
                  {}};
  const auto text = [](const auto& value) { return fmt::format("{}", value); };
  for (const PictureResult& each : pictures) {
    const double all = static_cast<double>(each.width) * each.height;
    for (std::size_t h = 0; h < each.heads.size(); ++h) {
      const model::Head& head = setup.heads[h];
      for (std::size_t c = 0; c < each.heads[h].classes.size(); ++c) {
        const ClassResult& found = each.heads[h].classes[c];
        out.rows.push_back({utf8_for_display(each.path), text(each.width), text(each.height), text(each.windows),
                            text(each.left_out), utf8_for_display(head.classes[c].name), text(found.pixels),
                            text(static_cast<double>(found.pixels) / all), text(found.mean),
                            utf8_for_display(each.damage), head.name, text(found.at_edge),
                            setup.models.size() > 1 ? text(each.disagreement(h)) : "",
                            each.field ? fmt::format("{}", fmt::join(each.field->doubts, "; ")) : ""});
      }
    }
  }
  return out;
}

RecordTable points_of(const std::vector<PictureResult>& pictures, const Setup& setup) {
  RecordTable out{{"path", "output", "point", "x", "y", "value"}, {}};
  for (const PictureResult& each : pictures) {
    for (std::size_t h = 0; h < each.heads.size(); ++h) {
      const model::Head& head = setup.heads[h];
      for (std::size_t c = 0; c < each.heads[h].peaks.size(); ++c) {
        const Peak& peak = each.heads[h].peaks[c];
        out.rows.push_back({utf8_for_display(each.path), head.name, utf8_for_display(head.classes[c].name),
                            fmt::format("{}", peak.x), fmt::format("{}", peak.y), fmt::format("{}", peak.value)});
      }
    }
  }
  return out;
}

RecordTable values_of(const std::vector<PictureResult>& pictures, const Setup& setup) {
  RecordTable out{{"path", "output", "task", "model", "class", "value"}, {}};
  for (const PictureResult& each : pictures) {
    for (std::size_t h = 0; h < each.heads.size(); ++h) {
      const model::Head& head = setup.heads[h];
      for (std::size_t k = 0; k < each.heads[h].numbers.size(); ++k) {
        const bool is_mean = head.task == model::Task::classification && setup.models.size() > 1;
        out.rows.push_back({utf8_for_display(each.path), head.name, choice_name(head.task),
                            is_mean ? "mean" : model_name(setup, k / head.classes.size()),
                            utf8_for_display(head.classes[class_of(head, k)].name),
                            fmt::format("{}", each.heads[h].numbers[k])});
      }
    }
  }
  return out;
}

}  // namespace millrace::segment
