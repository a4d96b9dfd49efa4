#include "src/jobs/segment/tables.h"

#include <fmt/format.h>

#include "src/base/text.h"

namespace millrace::segment {

std::string csv_of(const RecordTable& table) {
  std::string out;
  const auto add = [&out](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) out += (k == 0 ? "" : ",") + quote_csv_field(cells[k]);
    out += '\n';
  };
  add(table.columns);
  for (const auto& row : table.rows) add(row);
  return out;
}

RecordTable make_class_table(const std::vector<PictureResult>& pictures, const Setup& setup) {
  RecordTable out{{"path", "width", "height", "windows", "left_out", "class", "pixels", "share", "mean_probability",
                   "damage", "output", "edge_pixels", "disagreement", "doubts"},
                  {}};
  const auto text = [](const auto& value) { return fmt::format("{}", value); };
  for (const PictureResult& each : pictures) {
    const double all = static_cast<double>(each.width) * each.height;
    const std::string path = replace_invalid_utf8(each.path), damage = replace_invalid_utf8(each.damage),
                      doubts = each.field ? fmt::format("{}", fmt::join(each.field->doubts, "; ")) : "";
    const auto add = [&](const std::string& name, const std::string& pixels, const std::string& share,
                         const std::string& mean, const std::string& head, const std::string& at_edge,
                         const std::string& disagreement) {
      out.rows.push_back({path, text(each.width), text(each.height), text(each.windows), text(each.left_out), name,
                          pixels, share, mean, damage, head, at_edge, disagreement, doubts});
    };
    for (std::size_t h = 0; h < each.heads.size(); ++h) {
      const model::Head& head = setup.heads[h];
      for (std::size_t c = 0; c < each.heads[h].classes.size(); ++c) {
        const ClassResult& found = each.heads[h].classes[c];
        add(replace_invalid_utf8(head.classes[c].name), text(found.pixels),
            text(static_cast<double>(found.pixels) / all), text(found.mean), head.name, text(found.at_edge),
            setup.models.size() > 1 ? text(each.disagreement(h)) : "");
      }
    }
    if (!setup.has(model::ModelTask::segmentation)) add("", "", "", "", "", "", "");
  }
  return out;
}

RecordTable make_keypoint_table(const std::vector<PictureResult>& pictures, const Setup& setup) {
  RecordTable out{{"path", "output", "point", "x", "y", "value"}, {}};
  for (const PictureResult& each : pictures) {
    for (std::size_t h = 0; h < each.heads.size(); ++h) {
      const model::Head& head = setup.heads[h];
      for (std::size_t c = 0; c < each.heads[h].peaks.size(); ++c) {
        const std::optional<Peak>& peak = each.heads[h].peaks[c];
        const auto text = [&peak](double Peak::*member) { return peak ? fmt::format("{:.7g}", (*peak).*member) : ""; };
        out.rows.push_back({replace_invalid_utf8(each.path), head.name, replace_invalid_utf8(head.classes[c].name),
                            text(&Peak::x), text(&Peak::y), text(&Peak::value)});
      }
    }
  }
  return out;
}

RecordTable make_value_table(const std::vector<PictureResult>& pictures, const Setup& setup) {
  RecordTable out{{"path", "output", "task", "model", "class", "value"}, {}};
  for (const PictureResult& each : pictures) {
    for (std::size_t h = 0; h < each.heads.size(); ++h) {
      const model::Head& head = setup.heads[h];
      for (std::size_t k = 0; k < each.heads[h].numbers.size(); ++k) {
        const bool is_mean = head.task == model::ModelTask::classification && setup.models.size() > 1;
        out.rows.push_back({replace_invalid_utf8(each.path), head.name, choice_name(head.task),
                            is_mean ? "mean" : setup.model_name(k / head.classes.size()),
                            replace_invalid_utf8(head.classes[k % head.classes.size()].name),
                            fmt::format("{}", each.heads[h].numbers[k])});
      }
    }
  }
  return out;
}

}  // namespace millrace::segment
