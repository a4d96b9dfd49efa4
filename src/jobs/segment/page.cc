#include "src/jobs/segment/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/jobs/segment/small_photo.h"
#include "src/jobs/segment/suspects.h"
#include "src/jobs/segment/tables.h"
#include "src/report/number_format.h"
#include "src/report/page/page.h"
#include "src/report/plot/line_plot.h"

namespace millrace::segment {
namespace {

// Class of a mask, which readers of the page can hide.
struct DrawnClass {
  std::size_t head = 0, label = 0;  // the class's label in the mask
  report::PageLayer layer;
};

std::string name_in(const model::Head& head, const std::string& name) {
  return head.name.empty() ? name : fmt::format("{}: {}", head.name, name);
}

std::vector<DrawnClass> drawn_classes(const Setup& setup) {
  std::vector<DrawnClass> out;
  for (std::size_t h = 0; h < setup.heads.size(); ++h) {
    if (setup.heads[h].task != model::ModelTask::segmentation) continue;
    const auto labels = setup.heads[h].labels();
    for (std::size_t k = 0; k < labels.size(); ++k)
      if (labels[k].drawn) out.push_back({h, k, {name_in(setup.heads[h], labels[k].name), labels[k].color}});
  }
  return out;
}

// Keypoint, drawn as a ring on the photograph.
struct DrawnPoint {
  std::size_t head = 0, point = 0;
  report::PageLayer layer;
};

std::vector<DrawnPoint> drawn_points(const Setup& setup) {
  std::vector<DrawnPoint> out;
  for (std::size_t h = 0; h < setup.heads.size(); ++h) {
    const model::Head& head = setup.heads[h];
    if (head.task != model::ModelTask::keypoints) continue;
    for (std::size_t c = 0; c < head.classes.size(); ++c) {
      const auto color =
          head.classes[c].color.value_or(model::class_color(1 + (c + head.first_color) % (model::kColorCount - 1)));
      out.push_back({h, c, {name_in(head, head.classes[c].name), color}});
    }
  }
  return out;
}

SmallMask ring_at(const Peak& peak, const PictureResult& of, const SmallPhoto& photo) {
  constexpr double kRadius = 7, kHalfWidth = 1.5;
  SmallMask out{photo.width, photo.height, std::vector<std::uint8_t>(std::size_t{photo.width} * photo.height)};
  const auto block = static_cast<double>(Preview::block_of(of.width, of.height));
  for (std::uint32_t y = 0; y < out.height; ++y)
    for (std::uint32_t x = 0; x < out.width; ++x)
      if (std::abs(std::hypot(x + 0.5 - peak.x / block, y + 0.5 - peak.y / block) - kRadius) <= kHalfWidth)
        out.labels[std::size_t{y} * out.width + x] = 1;
  return out;
}

// Returns a PNG with one bit per pixel: the label's pixels in its color, all others transparent.
std::vector<std::uint8_t> png_of(const SmallMask& mask, std::size_t label, const std::array<std::uint8_t, 3>& color) {
  constexpr unsigned kBits = 8;
  std::vector<std::uint8_t> rows, out;
  for (std::uint32_t y = 0; y < mask.height; ++y) {
    rows.push_back(0);
    for (std::uint32_t x = 0; x < mask.width; x += kBits) {
      unsigned byte = 0;
      for (std::uint32_t j = x; j < x + kBits; ++j)
        byte = byte << 1U | (j < mask.width && mask.labels[std::size_t{y} * mask.width + j] == label ? 1U : 0U);
      rows.push_back(static_cast<std::uint8_t>(byte));
    }
  }
  append_png_header({mask.width, mask.height, 1, 1}, PngColors::palette, out);
  const std::array<std::uint8_t, 6> palette = {0, 0, 0, color[0], color[1], color[2]};
  append_png_chunk("PLTE", palette, out);
  append_png_chunk("tRNS", std::array<std::uint8_t, 2>{0, 255}, out);
  append_png_chunk("IDAT", compress_png_rows(rows), out);
  append_png_chunk("IEND", {}, out);
  return out;
}

double share_of(const PictureResult& picture, const ClassResult& found) {
  return static_cast<double>(found.pixels) / (static_cast<double>(picture.width) * picture.height);
}

std::string percent(double share) { return report::format_number(100 * share, 3) + " %"; }

report::PageFact likeliest(const model::Head& head, const std::vector<double>& probabilities) {
  const auto most = std::max_element(probabilities.begin(), probabilities.end());
  const auto c = static_cast<std::size_t>(most - probabilities.begin());
  return {report::format_number(*most, 3), name_in(head, head.classes[c].name)};
}

// Returns the rank of each image in this order.
template <typename Less>
std::vector<std::size_t> ranks_by(std::size_t count, const Less& less) {
  std::vector<std::size_t> order(count), out(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  for (std::size_t k = 0; k < count; ++k) out[order[k]] = k;
  return out;
}

void add_pictures(report::PageWriter& page, const PageView& view, RunContext& context) {
  const auto classes = drawn_classes(view.setup);
  const auto points = drawn_points(view.setup);
  std::vector<Suspect> shown = rank_suspects(view.pictures, view.setup);
  const std::size_t all = shown.size();
  if (all > kMaxPictures) shown.resize(kMaxPictures);
  page.section("Pictures");
  const auto wrong = std::count_if(shown.begin(), shown.end(), [](const Suspect& each) { return each.weight > 0; });
  page.paragraph(fmt::format(
      "{} {}Double-click or press + to zoom in, then drag to move.",
      wrong == 0   ? "No picture was flagged."
      : wrong == 1 ? "One picture was flagged, and is shown first."
                   : group_digits(static_cast<std::uint64_t>(wrong)) + " pictures were flagged, and are shown first.",
      classes.empty() && points.empty() ? "" : "The slider fades from the photograph to the mask. "));
  for (std::size_t h = 0; h < view.setup.heads.size(); ++h)
    if (is_disagreement_common(view.pictures, h))
      page.warning(name_in(view.setup.heads[h],
                           "in most pictures, the models disagree on more than half of the labeled pixels. Check their "
                           "model cards: one model may get its input in another form than in training."));
  if (shown.size() < all)
    page.note(fmt::format("The {} most suspicious pictures of {}; pictures.csv lists all.", group_digits(shown.size()),
                          group_digits(all)));
  std::vector<const PictureResult*> pictures;
  for (const Suspect& each : shown) pictures.push_back(&view.pictures[each.picture]);
  const DrawLayers draw = [&](const PictureResult& of, const std::vector<SmallMask>& masks, SmallPhoto& on) {
    for (std::size_t c = 0; c < classes.size() && !masks.empty(); ++c) {
      const SmallMask& mask = masks[classes[c].head];
      if (std::find(mask.labels.begin(), mask.labels.end(), classes[c].label) != mask.labels.end())
        on.drawn.emplace_back(c, png_of(mask, classes[c].label, classes[c].layer.color));
    }
    for (std::size_t p = 0; p < points.size(); ++p)
      if (const auto& peak = of.heads[points[p].head].peaks[points[p].point])
        on.drawn.emplace_back(classes.size() + p, png_of(ring_at(*peak, of, on), 1, points[p].layer.color));
  };
  std::vector<SmallPhoto> photos = make_small_photos(pictures, view.output, view.setup, view.files, draw, context);
  const auto without = std::count_if(photos.begin(), photos.end(), [](const auto& each) { return each.jpeg.empty(); });
  if (without > 0)
    page.note(
        fmt::format("{} shown without the photograph: it has changed or moved since, or is too large for this page.",
                    without == 1 ? "One is" : group_digits(static_cast<std::uint64_t>(without)) + " are"));
  std::vector<report::PageLayer> layers;
  std::vector<std::string> orders = {"flagged first", "by name"};
  const auto picture_of = [&](std::size_t k) -> const PictureResult& { return *pictures[k]; };
  std::vector<std::vector<std::size_t>> ranks = {
      ranks_by(shown.size(), [](std::size_t a, std::size_t b) { return a < b; }),
      ranks_by(shown.size(), [&](std::size_t a, std::size_t b) { return picture_of(a).name < picture_of(b).name; })};
  const auto found_of = [&](std::size_t k, const DrawnClass& drawn) -> const ClassResult& {
    const std::size_t first = view.setup.heads[drawn.head].has_background() ? 1 : 0;
    return picture_of(k).heads[drawn.head].classes[drawn.label - first];
  };
  for (const DrawnClass& each : classes) {
    layers.push_back(each.layer);
    orders.push_back("most of " + each.layer.name);
    ranks.push_back(ranks_by(shown.size(), [&](std::size_t a, std::size_t b) {
      return share_of(picture_of(a), found_of(a, each)) > share_of(picture_of(b), found_of(b, each));
    }));
  }
  for (const DrawnPoint& each : points) layers.push_back(each.layer);
  page.open_pictures(layers, orders);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const PictureResult& of = picture_of(k);
    report::PagePicture one;
    one.title = of.name;
    one.marks = shown[k].why;
    one.jpeg = std::move(photos[k].jpeg);
    one.drawn = std::move(photos[k].drawn);
    one.width = photos[k].width;
    one.height = photos[k].height;
    for (const auto& order : ranks) one.ranks.push_back(order[k]);
    for (const DrawnClass& each : classes)
      one.facts.push_back({percent(share_of(of, found_of(k, each))), each.layer.name});
    for (std::size_t h = 0; h < of.heads.size(); ++h)
      if (view.setup.heads[h].task == model::ModelTask::classification)
        one.facts.push_back(likeliest(view.setup.heads[h], of.heads[h].numbers));
    for (std::size_t h = 0; h < of.heads.size(); ++h)
      if (view.setup.models.size() > 1 && view.setup.heads[h].task == model::ModelTask::segmentation)
        one.facts.push_back({percent(of.disagreement(h)), name_in(view.setup.heads[h], "models disagree")});
    page.picture(one);
  }
  page.close_pictures();
}

// Adds the share of the image that each class covers, by percentile: from the images with least of it to those with
// most.
void add_areas(report::PageWriter& page, const PageView& view) {
  report::Table table;
  table.columns = {{"class"},
                   {"pictures with this class", true},
                   {"smallest share", true},
                   {"median share", true},
                   {"largest share", true}};
  report::LinePlot plot;
  constexpr int kSteps = 100;
  for (int k = 0; k <= kSteps; ++k) plot.x.push_back(k);
  for (std::size_t h = 0; h < view.setup.heads.size(); ++h) {
    const model::Head& head = view.setup.heads[h];
    if (head.task != model::ModelTask::segmentation) continue;
    for (std::size_t c = 0; c < head.classes.size(); ++c) {
      if (!is_foreground(head, c)) continue;
      std::vector<double> shares;
      for (const PictureResult& each : view.pictures) shares.push_back(100 * share_of(each, each.heads[h].classes[c]));
      std::sort(shares.begin(), shares.end());
      const auto at = [&shares](double percentile) {
        const double place = percentile / kSteps * static_cast<double>(shares.size() - 1);
        const auto first = static_cast<std::size_t>(place), second = std::min(first + 1, shares.size() - 1);
        return shares[first] + (shares[second] - shares[first]) * (place - static_cast<double>(first));
      };
      const auto with = static_cast<std::uint64_t>(
          std::count_if(shares.begin(), shares.end(), [](double share) { return share > 0; }));
      const std::string name = name_in(head, head.classes[c].name);
      const auto text = [](double share) { return report::format_number(share, 3) + " %"; };
      table.rows.push_back(
          {name, group_digits(with), text(shares.front()), text(at(kSteps / 2.0)), text(shares.back())});
      report::LineSeries line;
      for (const double percentile : plot.x) line.y.push_back(at(percentile));
      plot.panels.push_back({name, "% of the picture", {line}});
    }
  }
  if (table.rows.empty()) return;
  page.section("Areas");
  table.note = "Share of a picture's pixels that the class covers.";
  page.table(table);
  constexpr std::size_t kEnough = 3, kMaxPanels = 24;
  if (view.pictures.size() < kEnough) return;
  if (plot.panels.size() > kMaxPanels) plot.panels.resize(kMaxPanels);
  plot.title = "Distribution of areas";
  plot.caption = fmt::format(
      "Share of each of {} pictures that the class covers, sorted from the smallest share (left) to the largest "
      "(right).",
      group_digits(view.pictures.size()));
  plot.description = "Lines that rise from the smallest share to the largest.";
  plot.x_title = "pictures (%)";
  plot.names = {"share"};
  page.figure(draw(plot));
}

// Adds the first rows of a table that is also written to a file; its last columns are numbers.
void add_rows(report::PageWriter& page, RecordTable table, const std::string& file, std::size_t numbers) {
  report::Table out;
  const std::size_t columns = table.columns.size();
  for (std::size_t k = 0; k < columns; ++k) out.columns.push_back({table.columns[k], k + numbers >= columns});
  const std::size_t all = table.rows.size();
  if (all > report::kMaxNumberRows) {
    table.rows.resize(report::kMaxNumberRows);
    out.note =
        fmt::format("The first {} of {}; {} lists all.", group_digits(table.rows.size()), group_digits(all), file);
  }
  out.rows = std::move(table.rows);
  page.table(out);
}

void add_unusable(report::PageWriter& page, const PageView& view) {
  if (view.unusable.empty()) return;
  page.section("Skipped files");
  report::Table table;
  table.columns = {{"picture"}, {"reason"}};
  for (const Error& error : view.unusable) {
    if (table.rows.size() == report::kMaxNumberRows) break;
    Error why = error;
    why.subject.clear();
    table.rows.push_back({error.subject, why.message()});
  }
  if (table.rows.size() < view.unusable.size())
    table.note =
        fmt::format("The first {} of {}.", group_digits(table.rows.size()), group_digits(view.unusable.size()));
  page.table(table);
}

}  // namespace

std::string make_page(const PageView& view, RunContext& context) {
  report::PageWriter page("Segmented pictures", "segment");
  std::string lead = view.pictures.size() == 1 ? "One picture" : group_digits(view.pictures.size()) + " pictures";
  if (!view.unusable.empty()) lead += fmt::format("; {} skipped", group_digits(view.unusable.size()));
  page.lead(lead + ".");
  std::uint64_t damaged = 0, doubtful = 0, more = 0;
  for (const PictureResult& each : view.pictures) {
    damaged += each.damage.empty() ? 0 : 1;
    more += each.unshown.any() ? 1 : 0;
    doubtful += each.field && !each.field->doubts.empty() ? 1 : 0;
  }
  std::vector<report::PageFact> facts = {
      {group_digits(view.pictures.size()), view.pictures.size() == 1 ? "picture" : "pictures"}};
  if (view.setup.models.size() > 1) facts.push_back({group_digits(view.setup.models.size()), "models"});
  if (damaged > 0) facts.push_back({group_digits(damaged), "damaged"});
  if (more > 0) facts.push_back({group_digits(more), "with content that was not used"});
  if (doubtful > 0) facts.push_back({group_digits(doubtful), "doubtful photographs"});
  if (!view.unusable.empty()) facts.push_back({group_digits(view.unusable.size()), "skipped"});
  page.facts(facts);
  add_unusable(page, view);
  if (!view.pictures.empty()) {
    add_pictures(page, view, context);
    add_areas(page, view);
  }
  if (view.setup.has(model::ModelTask::keypoints)) {
    page.section("Points");
    add_rows(page, make_keypoint_table(view.pictures, view.setup), kPointsFile, 3);
  }
  if (view.setup.has_numbers()) {
    page.section("Classes and numbers");
    add_rows(page, make_value_table(view.pictures, view.setup), kValuesFile, 1);
  }
  page.section("Provenance");
  report::Table table;
  table.columns = {{"property"}, {"value"}};
  for (std::size_t k = 0; k < view.setup.models.size(); ++k)
    table.rows.push_back(
        std::vector<std::string>{view.setup.models.size() == 1 ? "model file" : fmt::format("model file {}", k + 1),
                                 std::string(file_name(view.setup.models[k].file.path))});
  for (const auto& [what, is] : view.provenance)
    if (what != kJsonMark) table.rows.push_back(std::vector<std::string>{what, is});
  page.table(table);
  return page.finish();
}

OutputKind page_kind() {
  return {"a report of millrace segment", ReadAccess::everyone, [](FileReader& file) {
            const auto front = file.peek();
            const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
            return text.starts_with(report::page_beginning("segment"));
          }};
}

}  // namespace millrace::segment
