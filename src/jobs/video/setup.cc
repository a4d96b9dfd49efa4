#include "src/jobs/video/setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/jobs/video/output_record.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::video {
namespace {

std::string text_of(const Encoding& encoding) {
  std::string out;
  for (const auto& candidate : encoding.options.candidates) {
    out += fmt::format("{}{}", out.empty() ? "" : ", or ", candidate.name);
    for (const auto& [key, value] : candidate.options) out += fmt::format(" {}={}", key, value);
  }
  return out;
}

std::array<std::uint8_t, 3> tint_of(const model::PictureModel& model) {
  for (const auto& label : model.heads.front().labels())
    if (label.drawn) return label.color;
  return model::class_color(1);
}

}  // namespace

Setup::Setup(const VideoOptions& given, Networks& networks, RunContext& context) : options(given) {
  check(options);
  const auto cancelled = [&context] { return context.cancel.cancelled(); };
  film = video_file::open_video(options.input(), options.stream ? static_cast<int>(*options.stream) : -1,
                                context.budget.limit(), cancelled);
  const auto units = [this](double seconds) {
    const double out = std::min(seconds / film.time_base.value(), static_cast<double>(video_file::kMaxTime));
    return film.begin() + std::llround(out);
  };
  cut.seconds_per_shard = options.shard_seconds;
  cut.warmup = static_cast<std::size_t>(options.smooth - 1);
  if (options.start) cut.start = units(*options.start);
  if (options.end) cut.end = units(*options.end);
  composition.show = options.shown();
  composition.film = film.shape;
  composition.film.colors = video_file::filled_in(film.shape, filled_in);
  composition.background = options.background;
  composition.rotation = film.rotation;
  set_output(context);
  note_losses();
  set_masks(networks, context);
  plan_memory(context);
}

void Setup::set_output(RunContext& context) {
  if (film.rotation != 0 && composition.show == ShownContent::side_by_side)
    throw Failure(ErrorCode::usage, "the video is rotated, and side-by-side is not supported for rotated videos",
                  "--write", "use --write mask and --write overlay in two runs");
  composition.shown = make_shown_shape(composition.show, composition.film);
  if (composition.show == ShownContent::files || options.sample > 0) {
    composition.made = composition.shown;
    encoding.words = "PNG";
    return;
  }
  container = video_file::container_of(options.output);
  encoding = choose_encoding(options, composition.shown, container, film);
  composition.made = encoding.options.shape;
  video_file::check_encoder(encoding.options, film.path, context.budget.limit(),
                            [&context] { return context.cancel.cancelled(); });
  open_muxer(context);
}

void Setup::open_muxer(RunContext& context) {
  muxer = std::make_unique<video_file::VideoMuxer>(film, container, choice_name(encoding.codec), context.budget.limit(),
                                                   [&context] { return context.cancel.cancelled(); });
}

void Setup::note_losses() {
  if (film.shape.alpha != 0 && composition.shown.alpha == 0)
    notes.emplace_back("the video's own transparency is dropped: --write overlay and --write film keep it");
  if (film.shape.alpha != 0 && composition.show == ShownContent::alpha)
    notes.emplace_back("the video's own transparency is replaced by the mask");
  if (film.shape.interlaced != 0 && muxer && encoding.codec != Codec::h264)
    notes.emplace_back(
        "the video is interlaced, but its frames are encoded as progressive: --codec h264 keeps the interlacing flag");
  if (composition.made.depth < composition.shown.depth)
    notes.push_back(fmt::format("the bit depth is reduced: {} of {} bits are kept", composition.made.depth,
                                composition.shown.depth));
  for (const std::string& each : film.beside)
    notes.push_back(fmt::format("data inside its video stream is not copied: {}", each));
}

void Setup::set_masks(Networks& networks, RunContext& context) {
  const video_file::FrameShape& shape = composition.film;
  for (const video_file::FrameRegion& region : options.regions) {
    if (region.left + region.width <= shape.width && region.top + region.height <= shape.height) continue;
    throw Failure(ErrorCode::usage,
                  fmt::format("{},{},{},{} lies outside of the video, which is {} x {}", region.left, region.top,
                              region.width, region.height, shape.width, shape.height),
                  "--region", "give left, top, width and height in pixels of the stored frame");
  }
  if (options.stereo != Stereo::none && film.rotation != 0)
    throw Failure(ErrorCode::usage, "stereo is not supported for rotated videos", "--stereo", "leave it out");
  if (!options.masks.empty()) {
    mask_folder = std::make_unique<MaskFolder>(options.masks);
    composition.tint = model::class_color(1);  // the files do not record the color in the model's card
    mask_width = mask_folder->width();
    mask_height = mask_folder->height();
  }
  if (!options.network.model.empty()) {
    network = &networks.first(options, context);
    composition.tint = tint_of(network->model);
    threshold = static_cast<std::uint16_t>(std::lround(network->model.heads.front().threshold * masks::kOne));
    Views views(options, shape, film.rotation, network->model);
    if (!options.fast_model.empty()) {
      fast_network = &networks.fast(options, context);
      first =
          std::make_unique<FrameInference>(*fast_network, Views(options, shape, film.rotation, fast_network->model));
      second = std::make_unique<FrameInference>(*network, std::move(views));
    } else {
      first = std::make_unique<FrameInference>(*network, std::move(views));
    }
    const Views& last = (second ? second : first)->views();
    mask_width = options.refine_region ? shape.width : last.mask_width();
    mask_height = options.refine_region ? shape.height : last.mask_height();
  }
  composition.mask_width = options.postprocess.any() ? shape.width : mask_width;
  composition.mask_height = options.postprocess.any() ? shape.height : mask_height;
}

void Setup::plan_memory(RunContext& context) {
  const Bytes stored{video_file::layout_of(film.shape).bytes}, made{video_file::layout_of(composition.made).bytes};
  const auto encoder_threads = static_cast<std::uint64_t>(options.encoder_threads);
  const auto decoder_threads = static_cast<std::uint64_t>(options.decoder_threads);
  // Up to 16 reference frames, and one per thread.
  decoder = stored * (17 + decoder_threads) + 20_MiB;
  // The frames of the encoder's lookahead, and what it makes of them.
  encoder = muxer ? made * (estimate_encoder_lookahead(encoding, options.profile) + 2 * encoder_threads + 8) + 40_MiB
                  : 20_MiB;
  frame = stored + made;
  const auto pixels = [](std::int32_t width, std::int32_t height) {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  };
  for (const FrameInference* each : {first.get(), second.get()})
    if (each != nullptr) frame += each->bytes();
  if (options.refine_region) frame += first->bytes();
  if (has_masks()) frame += Bytes{2 * pixels(mask_width, mask_height)};
  if (options.postprocess.any()) frame += Bytes{2 * pixels(film.shape.width, film.shape.height)};
  // The frame being read and one whose duration is unknown; the frames repeated for the next shard; and the last frames
  // of a shard.
  const auto more_decoded = static_cast<std::uint32_t>(3 + 2 * warmup());
  const auto more_encoded = static_cast<std::uint32_t>(options.encoder_threads) + 4;
  beside = stored * more_decoded + made * more_encoded + Bytes{2 * pixels(mask_width, mask_height)} * warmup();
  // Additional buffers of each thread.
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  if (options.postprocess.any()) beside += Bytes{12 * pixels(film.shape.width, film.shape.height)} * threads;
  if (composition.made != composition.shown) beside += Bytes{video_file::layout_of(composition.shown).bytes} * threads;
  // Sums over several views, and over time.
  const bool sums =
      options.refine_region || options.stereo != Stereo::none || !options.regions.empty() || options.scales_text != "1";
  if (sums) beside += Bytes{16 * pixels(mask_width, mask_height)} * threads;
  if (options.smooth > 1) beside += Bytes{4 * pixels(mask_width, mask_height)};
  if (composition.show == ShownContent::background) beside += stored * (threads + 1);
  const Bytes all = beside + decoder + encoder;
  const Bytes left = context.budget.largest_grant();
  if (all + frame > left) {
    throw OutOfMemory(ErrorCode::out_of_memory,
                      fmt::format("frames of {} x {} need {} with decoder and encoder, and only {} are free",
                                  film.shape.width, film.shape.height, format_bytes(all + frame), format_bytes(left)),
                      film.path, "increase --memory, or use --profile fast and fewer --encoder-threads");
  }
  tokens = chain::count_tokens(context, frame, left - all);
  // The limit keeps all stages busy, and is not larger: a waiting frame occupies memory.
  const std::size_t enough = 2 * static_cast<std::size_t>(context.executor.threads()) +
                             2 * static_cast<std::size_t>(network ? network->requests : 0) + 2;
  tokens = std::min(tokens, enough);
  decoder_slots = static_cast<std::uint32_t>(tokens) + more_decoded;
  encoder_slots = static_cast<std::uint32_t>(tokens) + more_encoded;
}

std::uint64_t Setup::expected_frames() const {
  if (!film.duration || (!options.start && !options.end)) return film.frames;
  const double all = film.seconds(*film.duration);
  const double part = std::min(options.end.value_or(all), all) - options.start.value_or(0);
  return part <= 0 ? 0 : std::max<std::uint64_t>(static_cast<std::uint64_t>(part * film.rate.value()), 1);
}

// Returns the options that determine the results, for any video.
Attributes make_shared_provenance(const VideoOptions& options, const Network* network, const Network* fast_network) {
  const auto time = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "auto"; };
  Attributes out = {{"write", options.show_text},
                    {"encoder-threads", std::to_string(options.encoder_threads)},
                    {"segment", fmt::format("{}", options.shard_seconds)},
                    {"start", time(options.start)},
                    {"end", time(options.end)},
                    {"clean", options.postprocess_text},
                    {"feather", fmt::format("{}", options.postprocess.feather)},
                    {"smooth", std::to_string(options.smooth)},
                    {"stereo", choice_name(options.stereo)},
                    {"eyes", choice_name(options.stereo_merge)},
                    {"reuse", options.reuse ? fmt::format("{}", *options.reuse) : "off"},
                    {"scales", options.scales_text},
                    {"region", fmt::format("{}", fmt::join(options.region_texts, " "))}};
  if (options.show_text == "auto") out.front().second = options.shown() == ShownContent::film ? "film" : "mask";
  if (const std::string file = options.background_file(); !file.empty())
    out.emplace_back("background", hex_of_bytes(hash_file(file).or_throw()));
  if (network != nullptr)
    for (auto& each : model::make_provenance(network->model, network->session)) out.push_back(std::move(each));
  if (fast_network != nullptr) {
    for (auto& [key, value] : model::make_provenance(fast_network->model, fast_network->session))
      out.emplace_back("fast-" + key, std::move(value));
    out.emplace_back("confidence", fmt::format("{}", options.confidence));
  }
  return out;
}

Attributes Setup::make_provenance() const {
  Attributes out = {mark(),
                    {"film", hash_file_samples(film.file->get(), film.state.size)},
                    {"stream", std::to_string(film.stream)},
                    {"library", film.library},
                    {"container", container},
                    {"encoder", muxer ? text_of(encoding) : encoding.words}};
  if (mask_folder) out.emplace_back("masks", mask_folder->digest());
  for (auto& each : make_shared_provenance(options, network, fast_network)) out.push_back(std::move(each));
  return out;
}

std::string Setup::digest() const {
  const std::string all = millrace::json_of(make_provenance());
  return fmt::format("{:016x}", short_hash(std::span(reinterpret_cast<const std::uint8_t*>(all.data()), all.size())));
}

std::string Setup::runtime_and_cpu() const {
  return network != nullptr && options.network.mixed ? model::runtime_and_cpu_of(network->session) : "";
}

std::string Setup::describe_network(const std::set<std::string>& runtimes_and_cpus) const {
  if (network == nullptr) return "";
  // The tag of a video for its writing application must be short.
  constexpr std::size_t kMaxNamed = 4;
  std::string by;
  std::size_t named = 0;
  for (const std::string& runtime_and_cpu : runtimes_and_cpus) {
    if (named++ < kMaxNamed) by += (by.empty() ? "" : " and ") + escape_unprintable(runtime_and_cpu);
  }
  if (named > kMaxNamed) by += fmt::format(" and {} others", named - kMaxNamed);
  return fmt::format("{} in {} by {}", escape_unprintable(file_name(options.network.model)),
                     network->session.precision(), by.empty() ? network->session.runtime() : by);
}

}  // namespace millrace::video
