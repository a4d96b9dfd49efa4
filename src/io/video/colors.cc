#include "src/io/video/colors.h"

#include <fmt/format.h>
#include <zimg.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/base/error.h"

namespace millrace::video_file {
namespace {

constexpr double kWhite = 203;  // cd/m2
constexpr std::int32_t kMatrixRgb = 0, kBt709 = 1, kBt470bg = 5, kBt601 = 6;

std::string name_in(std::initializer_list<std::pair<std::int32_t, const char*>> names, std::int32_t value) {
  for (const auto& [number, name] : names)
    if (number == value) return name;
  return fmt::format("{}", value);
}
std::string matrix_name(std::int32_t value) {
  return name_in({{0, "RGB"},
                  {1, "BT.709"},
                  {2, "unspecified"},
                  {4, "FCC"},
                  {5, "BT.601"},
                  {6, "BT.601"},
                  {7, "SMPTE 240M"},
                  {8, "YCgCo"},
                  {9, "BT.2020"},
                  {10, "BT.2020 (constant luminance)"},
                  {14, "ICtCp"}},
                 value);
}
std::string primaries_name(std::int32_t value) {
  return name_in({{1, "BT.709"},
                  {2, "unspecified"},
                  {5, "BT.601 (625 lines)"},
                  {6, "BT.601 (525 lines)"},
                  {9, "BT.2020"},
                  {11, "DCI-P3"},
                  {12, "Display P3"}},
                 value);
}
std::string transfer_name(std::int32_t value) {
  return name_in({{1, "BT.709"},
                  {2, "unspecified"},
                  {6, "BT.601"},
                  {8, "linear"},
                  {13, "sRGB"},
                  {14, "BT.2020"},
                  {15, "BT.2020"},
                  {16, "PQ"},
                  {18, "HLG"}},
                 value);
}

[[noreturn]] void throw_zimg_error() {
  std::array<char, 1024> text{};
  zimg_get_last_error(text.data(), text.size());
  throw Failure(ErrorCode::unsupported, fmt::format("its colors cannot be converted: {}", text.data()), "", "");
}

zimg_image_format format_of(const FrameShape& shape, const FrameRegion& region = {}) {
  zimg_image_format out;
  zimg_image_format_default(&out, ZIMG_API_VERSION);
  out.width = static_cast<unsigned>(shape.even_width(0));
  out.height = static_cast<unsigned>(shape.even_height(0));
  out.pixel_type = shape.depth > 8 ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE;
  out.depth = shape.depth;
  out.subsample_w = shape.kind == ColorModel::yuv ? shape.log2_cw : 0;
  out.subsample_h = shape.kind == ColorModel::yuv ? shape.log2_ch : 0;
  out.color_family = shape.kind == ColorModel::gray  ? ZIMG_COLOR_GREY
                     : shape.kind == ColorModel::rgb ? ZIMG_COLOR_RGB
                                                     : ZIMG_COLOR_YUV;
  out.matrix_coefficients =
      static_cast<zimg_matrix_coefficients_e>(shape.kind == ColorModel::rgb ? kMatrixRgb : shape.colors.matrix);
  out.color_primaries = static_cast<zimg_color_primaries_e>(shape.colors.primaries);
  out.transfer_characteristics = static_cast<zimg_transfer_characteristics_e>(shape.colors.transfer);
  out.pixel_range = shape.colors.range == ColorRange::full ? ZIMG_RANGE_FULL : ZIMG_RANGE_LIMITED;
  if (shape.colors.siting > 0) out.chroma_location = static_cast<zimg_chroma_location_e>(shape.colors.siting - 1);
  if (shape.even_width(0) != shape.width || shape.even_height(0) != shape.height) {
    out.active_region.left = out.active_region.top = 0;
    out.active_region.width = shape.width;
    out.active_region.height = shape.height;
  }
  if (region.width > 0) {
    out.active_region.left = region.left;
    out.active_region.top = region.top;
    out.active_region.width = region.width;
    out.active_region.height = region.height;
  }
  return out;
}

void set_no_region(zimg_image_format& format) {
  zimg_image_format none;
  zimg_image_format_default(&none, ZIMG_API_VERSION);
  format.active_region = none.active_region;
}

struct FreeGraph {
  void operator()(zimg_filter_graph* graph) const { zimg_filter_graph_free(graph); }
};

}  // namespace

Colors filled_in(const FrameShape& shape, std::vector<std::string>& assumed) {
  Colors out = shape.colors;
  // The values 0 and 3 are reserved, except for the matrix 0, which is RGB.
  const auto is_reserved = [](std::int32_t value) { return value == 0 || value == 3; };
  if (out.matrix == 3 || (out.matrix == kMatrixRgb && shape.kind != ColorModel::rgb)) out.matrix = kUnspecified;
  if (is_reserved(out.primaries)) out.primaries = kUnspecified;
  if (is_reserved(out.transfer)) out.transfer = kUnspecified;
  const bool large = shape.width >= 1280 || shape.height >= 720;
  const bool lines_625 = shape.height == 576 || shape.height == 288;
  const std::int32_t family = large ? kBt709 : lines_625 ? kBt470bg : kBt601;
  if (shape.kind == ColorModel::yuv && out.matrix == kUnspecified) {
    out.matrix = family;
    assumed.push_back(fmt::format("{} matrix", matrix_name(family)));
  }
  if (shape.kind != ColorModel::yuv)
    out.matrix = shape.kind == ColorModel::rgb ? kMatrixRgb
                 : out.matrix == kMatrixRgb    ? family
                 : out.matrix == kUnspecified  ? family
                                               : out.matrix;
  if (out.range == ColorRange::unspecified) {
    out.range = shape.kind == ColorModel::yuv ? ColorRange::limited : ColorRange::full;
    assumed.push_back(out.range == ColorRange::full ? "full range" : "limited range");
  }
  if (out.primaries == kUnspecified) {
    out.primaries = family;
    assumed.push_back(fmt::format("{} primaries", primaries_name(family)));
  }
  if (out.transfer == kUnspecified) {
    out.transfer = large ? kBt709 : kBt601;
    assumed.push_back(fmt::format("{} transfer", transfer_name(out.transfer)));
  }
  if (shape.kind == ColorModel::yuv && (shape.log2_cw > 0 || shape.log2_ch > 0) && out.siting == 0) {
    out.siting = 1;
    assumed.emplace_back("chroma on the left");
  }
  return out;
}

std::string words_of(const Colors& colors) {
  return fmt::format("{} matrix, {} range, {} primaries, {} transfer", matrix_name(colors.matrix),
                     colors.range == ColorRange::full      ? "full"
                     : colors.range == ColorRange::limited ? "limited"
                                                           : "unspecified",
                     primaries_name(colors.primaries), transfer_name(colors.transfer));
}

bool is_hdr(const Colors& colors) {
  return colors.transfer == ZIMG_TRANSFER_ST2084 || colors.transfer == ZIMG_TRANSFER_ARIB_B67;
}

struct Converter::Graph {
  std::uint32_t from_planes = 0, to_planes = 0;
  FrameLayout from, to;
  std::unique_ptr<zimg_filter_graph, FreeGraph> graph;
  std::size_t workspace = 0;

  void build(const zimg_image_format& source, const zimg_image_format& target, Filter filter);
};

namespace {

zimg_graph_builder_params how_to(Converter::Filter filter) {
  zimg_graph_builder_params out;
  zimg_graph_builder_params_default(&out, ZIMG_API_VERSION);
  out.resample_filter = out.resample_filter_uv =
      filter == Converter::Filter::bilinear ? ZIMG_RESIZE_BILINEAR : ZIMG_RESIZE_BICUBIC;
  // Rows begin at multiples of 64 bytes.
  out.cpu_type = ZIMG_CPU_AUTO_64B;
  out.nominal_peak_luminance = kWhite;
  return out;
}

}  // namespace

void Converter::Graph::build(const zimg_image_format& source, const zimg_image_format& target, Filter filter) {
  const zimg_graph_builder_params how = how_to(filter);
  graph.reset(zimg_filter_graph_build(&source, &target, &how));
  if (!graph || zimg_filter_graph_get_tmp_size(graph.get(), &workspace) != ZIMG_ERROR_SUCCESS) throw_zimg_error();
}

Converter::Converter(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}

Converter::Converter(const FrameShape& from, const FrameShape& to, Filter filter, const FrameRegion& region)
    : graph_(std::make_unique<Graph>()) {
  graph_->from_planes = from.color_planes();
  graph_->to_planes = to.color_planes();
  graph_->from = layout_of(from);
  graph_->to = layout_of(to);
  zimg_image_format source = format_of(from, region), target = format_of(to);
  // The target has no active region, so it includes the padding of odd sizes. Where both have the same size, so does
  // the source. Otherwise the frame is stretched over the padding too, by about a pixel in a thousand.
  set_no_region(target);
  if (source.width == target.width && source.height == target.height && region.width == 0) set_no_region(source);
  graph_->build(source, target, filter);
}

Converter Converter::to_linear(const FrameShape& from, std::int32_t width, std::int32_t height, Filter filter,
                               const FrameRegion& region) {
  auto graph = std::make_unique<Graph>();
  graph->from_planes = from.color_planes();
  graph->to_planes = 3;
  graph->from = layout_of(from);
  graph->to = linear_layout(width, height);
  FrameShape to;
  to.width = width;
  to.height = height;
  to.kind = ColorModel::rgb;
  to.colors = {ColorRange::full, kMatrixRgb, kBt709, ZIMG_TRANSFER_LINEAR, 0};
  zimg_image_format target = format_of(to);
  target.pixel_type = ZIMG_PIXEL_FLOAT;
  target.depth = 32;
  graph->build(format_of(from, region), target, filter);
  return Converter(std::move(graph));
}

Buffer<std::uint8_t> make_samples(const std::array<std::uint8_t, 3>& color, const FrameShape& shape) {
  FrameShape from, to = shape;
  from.kind = ColorModel::rgb;
  from.width = from.height = to.width = to.height = kSampleSide;
  from.colors = shape.colors;
  from.colors.matrix = kMatrixRgb;
  from.colors.range = ColorRange::full;
  if (is_hdr(shape.colors)) {
    from.colors.primaries = kBt709;
    from.colors.transfer = ZIMG_TRANSFER_IEC_61966_2_1;
  }
  const FrameLayout layout = layout_of(from);
  Buffer<std::uint8_t> square(layout.bytes), out(layout_of(to).bytes), workspace;
  for (std::size_t p = 0; p < 3; ++p)
    std::fill_n(square.data() + layout.offset[p], layout.stride[p] * std::size_t{kSampleSide}, color[p]);
  // Gray has the luma of the same colour.
  FrameShape target = to;
  if (to.kind == ColorModel::gray) target.kind = ColorModel::yuv;
  if (target.kind != to.kind) out.resize(layout_of(target).bytes);
  Converter(from, target, Converter::Filter::bilinear).convert(square.data(), out.data(), workspace);
  return out;
}

FrameLayout linear_layout(std::int32_t width, std::int32_t height) {
  constexpr std::size_t kAlign = 64;
  FrameLayout out;
  out.bytes = kAlign;
  for (std::size_t p = 0; p < 3; ++p) {
    out.offset[p] = out.bytes;
    out.stride[p] = (static_cast<std::size_t>(width) * sizeof(float) + kAlign - 1) / kAlign * kAlign;
    out.bytes += out.stride[p] * static_cast<std::size_t>(height);
  }
  out.bytes += kAlign;
  return out;
}

std::uint8_t tone_map(float linear) {
  constexpr int kSteps = 16384;
  static const std::vector<std::uint8_t> kCoded = [] {
    std::vector<std::uint8_t> out(kSteps + 1);
    for (int k = 0; k <= kSteps; ++k) {
      const double x = static_cast<double>(k) / kSteps;
      const double coded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
      out[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(std::lround(255 * coded));
    }
    return out;
  }();
  constexpr float kKnee = 0.6F, kPeak = 1000 / static_cast<float>(kWhite);
  constexpr float kMaxLight = (kPeak - kKnee) / (1 - kKnee);
  if (!(linear > 0)) return 0;
  float x = linear < kPeak ? linear : kPeak;
  if (x > kKnee) {
    const float over = (x - kKnee) / (1 - kKnee);
    x = kKnee + (1 - kKnee) * over * (1 + over / (kMaxLight * kMaxLight)) / (1 + over);
  }
  return kCoded[static_cast<std::size_t>(x * kSteps + 0.5F)];
}

Converter::~Converter() = default;
Converter::Converter(Converter&&) noexcept = default;
Converter& Converter::operator=(Converter&&) noexcept = default;

void Converter::convert(const std::uint8_t* from, std::uint8_t* to, Buffer<std::uint8_t>& workspace) const {
  zimg_image_buffer_const source = {};
  zimg_image_buffer target = {};
  source.version = target.version = ZIMG_API_VERSION;
  for (std::uint32_t p = 0; p < graph_->from_planes; ++p) {
    source.plane[p].data = from + graph_->from.offset[p];
    source.plane[p].stride = static_cast<std::ptrdiff_t>(graph_->from.stride[p]);
    source.plane[p].mask = ZIMG_BUFFER_MAX;
  }
  for (std::uint32_t p = 0; p < graph_->to_planes; ++p) {
    target.plane[p].data = to + graph_->to.offset[p];
    target.plane[p].stride = static_cast<std::ptrdiff_t>(graph_->to.stride[p]);
    target.plane[p].mask = ZIMG_BUFFER_MAX;
  }
  workspace.resize(graph_->workspace);
  if (zimg_filter_graph_process(graph_->graph.get(), &source, &target, workspace.data(), nullptr, nullptr, nullptr,
                                nullptr) != ZIMG_ERROR_SUCCESS)
    throw_zimg_error();
}

namespace {

FrameShape seen_shape(const FrameShape& shape, std::int32_t width, std::int32_t height) {
  FrameShape out;
  out.width = width;
  out.height = height;
  out.kind = ColorModel::rgb;
  out.colors = shape.colors;
  out.colors.matrix = kMatrixRgb;
  out.colors.range = ColorRange::full;
  return out;
}

}  // namespace

RgbConverter::RgbConverter(const FrameShape& shape, const FrameRegion& region, std::int32_t width, std::int32_t height)
    : linear_(is_hdr(shape.colors)),
      seen_(seen_shape(shape, width, height)),
      converter_(linear_ ? Converter::to_linear(shape, width, height, Converter::Filter::bilinear, region)
                         : Converter(shape, seen_, Converter::Filter::bilinear, region)) {}

void RgbConverter::planes(const std::uint8_t* picture, std::uint8_t* out, Workspace& workspace) const {
  if (!linear_) return converter_.convert(picture, out, workspace.converting);
  const FrameLayout linear = linear_layout(seen_.width, seen_.height), layout = layout_of(seen_);
  workspace.linear.resize(linear.bytes);
  converter_.convert(picture, workspace.linear.data(), workspace.converting);
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(seen_.height); ++y) {
      const auto* from =
          reinterpret_cast<const float*>(workspace.linear.data() + linear.offset[p] + y * linear.stride[p]);
      std::uint8_t* to = out + layout.offset[p] + y * layout.stride[p];
      for (std::size_t x = 0; x < static_cast<std::size_t>(seen_.width); ++x) to[x] = tone_map(from[x]);
    }
  }
}

}  // namespace millrace::video_file
