#include "src/model/ensemble.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"

namespace millrace::model {

// A window in progress: it passes through flip after flip, and for each flip through network after network.
struct Ensemble::Work {
  const float* input = nullptr;
  Prediction* out = nullptr;
  Session::Completion done;
  std::size_t flip = 0, member = 0;
  Buffer<float> flipped;                        // flipped input
  std::vector<Buffer<float>> raw;               // by head, as the network returns it
  Buffer<float> enlarged, sum;                  // one enlarged map; sum of all maps over networks, for one flip
  std::vector<Buffer<std::uint8_t>> of_first;   // by head: labels of the first network
  std::vector<Buffer<std::uint8_t>> differing;  // bit 0: another network has another label; bit 1: one has any
  Buffer<std::uint8_t> labels;
};

namespace {

// Converts the exception that is being handled to an Error, because a callback must not throw.
Error current_error() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::exception& other) {
    return {ErrorCode::out_of_memory, other.what(), "", "raise --memory, or lower --requests"};
  }
}

bool same(const InputForm& form, const PictureModel& model) {
  if (form.order != model.order || form.levels.size() != model.levels.size()) return false;
  for (std::size_t c = 0; c < form.levels.size(); ++c)
    if (form.levels[c].of != model.levels[c].of) return false;
  return true;
}

}  // namespace

Ensemble::Ensemble(std::vector<PictureModel>& models, const PictureModelOptions& picture_options, Options options)
    : models_(models), options_(std::move(options)) {
  flips_ = {{}};
  if (options_.flips == Flips::h || options_.flips == Flips::hw) flips_.push_back({true, false});
  if (options_.flips == Flips::w || options_.flips == Flips::hw) flips_.push_back({false, true});
  if (options_.flips == Flips::hw) flips_.push_back({true, true});
  for (PictureModel& model : models_) {
    if (model.height != models_.front().height || model.width != models_.front().width)
      throw Failure(
          ErrorCode::unsupported,
          fmt::format("its window is {} x {}, but that of '{}' is {} x {}", model.height, model.width,
                      escape_unprintable(models_.front().file.path), models_.front().height, models_.front().width),
          model.file.path, "set a size for all of them with --window, or run them one by one");
    sessions_.push_back(
        std::make_unique<Session>(model.file, SessionOptions{.input = model.input_shape(),
                                                             .precision = picture_options.precision,
                                                             .threads = options_.threads,
                                                             .requests = options_.requests,
                                                             .channels_last = model.layout == TensorLayout::nhwc,
                                                             .cache = options_.cache,
                                                             .cancel = options_.cancel}));
    model.heads = make_heads(model.file.path, model.card, {picture_options.activation, picture_options.threshold},
                             sessions_.back()->outputs(), model.height, model.width);
    const auto known =
        std::find_if(forms_.begin(), forms_.end(), [&](const InputForm& form) { return same(form, model); });
    form_of_.push_back(static_cast<std::size_t>(known - forms_.begin()));
    if (known == forms_.end()) {
      form_at_.push_back(input_elements_);
      forms_.push_back({model.order, model.levels});
      input_elements_ += model.input_elements();
    }
  }
  check_same_outputs();
  for (const Head& head : heads()) {
    map_at_.push_back(channels_);
    if (head.is_map()) channels_ += head.classes.size();
  }
  ones_.assign(pixels(), 1.0F);
  works_ = std::make_unique<ObjectPool<Work>>([] { return std::make_unique<Work>(); });
}

// Waits for all windows: between two networks, no session knows about a window.
Ensemble::~Ensemble() {
  {
    MutexLock lock(mutex_);
    while (under_way_ > 0) ended_.wait(lock);
  }
  sessions_.clear();
}

std::string Ensemble::cache_failure() const {
  for (const auto& session : sessions_)
    if (!session->cache_failure().empty()) return session->cache_failure();
  return "";
}

void Ensemble::check_same_outputs() const {
  for (const PictureModel& model : models_) {
    const auto refuse = [&](const std::string& what) {
      throw Failure(ErrorCode::unsupported,
                    fmt::format("{} '{}'; networks that run together must agree in that", what,
                                escape_unprintable(models_.front().file.path)),
                    model.file.path, "make their model cards agree, or run them one by one");
    };
    if (model.heads.size() != heads().size()) refuse("it has more or fewer outputs than");
    for (std::size_t k = 0; k < heads().size(); ++k) {
      const Head &one = model.heads[k], &first = heads()[k];
      if (one.name != first.name) refuse("its card does not list the same outputs in the same order as that of");
      if (one.task != first.task) refuse("its outputs do not have the same tasks as those of");
      if (one.activation != first.activation) refuse("its outputs do not have the same activation as those of");
      if (one.task == ModelTask::segmentation && one.threshold != first.threshold)
        refuse("its outputs do not have the same threshold as those of");
      const auto same_class = [](const ClassCard& a, const ClassCard& b) {
        return a.name == b.name && a.color == b.color && a.drawn == b.drawn;
      };
      if (!std::equal(one.classes.begin(), one.classes.end(), first.classes.begin(), first.classes.end(), same_class))
        refuse("its outputs do not have the same classes as those of");
    }
  }
}

Bytes Ensemble::bytes() const {
  const std::size_t maps = channels_ * pixels();
  std::uint64_t floats = input_elements_ + maps, bytes = 0;
  std::uint64_t largest = 0, largest_input = 0;
  bool smaller = false;
  for (const PictureModel& model : models_) {
    std::uint64_t all = 0;
    for (const Head& head : model.heads) {
      all += head.classes.size() * static_cast<std::uint64_t>(std::max<std::int64_t>(head.height * head.width, 1));
      smaller = smaller || (head.is_map() && head.height != model.height);
    }
    largest = std::max(largest, all);
    largest_input = std::max(largest_input, model.input_elements());
  }
  const bool plain = sessions_.size() == 1 && flips_.size() == 1 && !smaller;
  if (!plain) floats += largest + (smaller ? maps : 0) + (flips_.size() > 1 ? maps + largest_input : 0);
  if (sessions_.size() > 1) bytes += (2 * heads().size() + 1) * pixels();
  return Bytes{floats * sizeof(float) + bytes};
}

void Ensemble::interrupt() {
  for (const auto& session : sessions_) session->interrupt();
}
void Ensemble::go_on() {
  for (const auto& session : sessions_) session->go_on();
}

Session::Memory Ensemble::measure() {
  Session::Memory out{};
  for (const auto& session : sessions_) {
    const Session::Memory one = session->measure();
    out.model = out.model + one.model;
    out.request = out.request + one.request;
  }
  return out;
}

void Ensemble::submit(const float* input, Prediction& out, Session::Completion done) {
  out.maps.resize(channels_ * pixels());
  out.numbers.assign(heads().size(), {});
  out.votes.assign(sessions_.size() > 1 ? heads().size() : 0, Disagreement{});
  for (std::size_t k = 0; k < heads().size(); ++k) {
    const Head& head = heads()[k];
    if (!head.is_map())
      out.numbers[k].assign(head.classes.size() * (head.task == ModelTask::regression ? sessions_.size() : 1), 0);
  }
  auto work = works_->take();
  work->input = input;
  work->out = &out;
  work->done = std::move(done);
  work->flip = work->member = 0;
  {
    const MutexLock lock(mutex_);
    ++under_way_;
  }
  next(std::move(work));
}

// Returns the input of the next network, and buffers for its outputs.
std::pair<const float*, std::vector<float*>> Ensemble::prepare(Work& work) {
  const PictureModel& model = models_[work.member];
  const Flip& flip = flips_[work.flip];
  const float* input = work.input + form_at_[form_of_[work.member]];
  if (flip.rows || flip.columns) {
    work.flipped.resize(model.input_elements());
    std::copy_n(input, work.flipped.size(), work.flipped.data());
    window::flip({work.flipped.data(), work.flipped.size()}, static_cast<std::size_t>(model.height),
                 static_cast<std::size_t>(model.width), flip.rows, flip.columns);
    input = work.flipped.data();
  }
  std::vector<float*> outputs(sessions_[work.member]->outputs().size(), nullptr);
  work.raw.resize(model.heads.size());
  for (std::size_t k = 0; k < model.heads.size(); ++k) {
    const Head& head = model.heads[k];
    if (is_in_place(head)) {
      outputs[head.output] = work.out->maps.data() + map_at_[k] * pixels();
      continue;
    }
    work.raw[k].resize(head.classes.size() *
                       static_cast<std::size_t>(std::max<std::int64_t>(head.height * head.width, 1)));
    outputs[head.output] = work.raw[k].data();
  }
  return {input, std::move(outputs)};
}

// The session owns `work` from here on, because this function may return after the work has ended.
void Ensemble::next(std::shared_ptr<Work> work) {
  std::pair<const float*, std::vector<float*>> ports;
  try {
    ports = prepare(*work);
  } catch (...) {
    const Error error = current_error();
    return end(std::move(work), &error);
  }
  Session& session = *sessions_[work->member];
  session.submit(ports.first, std::move(ports.second), [this, work = std::move(work)](const Error* error) mutable {
    std::optional<Error> failed;
    if (error != nullptr) failed = *error;
    try {
      if (!failed) step(*work);
    } catch (...) {
      failed = current_error();
    }
    if (!failed && work->flip < flips_.size()) return next(std::move(work));
    end(std::move(work), failed ? &*failed : nullptr);
  });
}

void Ensemble::end(std::shared_ptr<Work> work, const Error* error) {
  const Session::Completion done = std::exchange(work->done, nullptr);
  work.reset();
  done(error);
  const MutexLock lock(mutex_);
  --under_way_;
  ended_.notify_all();
}

void Ensemble::step(Work& work) {
  take(work);
  if (++work.member < sessions_.size()) return;
  end_flip(work);
  work.member = 0;
  ++work.flip;
}

// Takes the outputs of a network for a flipped window.
void Ensemble::take(Work& work) {
  const PictureModel& model = models_[work.member];
  const Flip& flip = flips_[work.flip];
  const auto height = static_cast<std::size_t>(model.height), width = static_cast<std::size_t>(model.width);
  for (std::size_t k = 0; k < model.heads.size(); ++k) {
    const Head& head = model.heads[k];
    Buffer<float>& raw = work.raw[k];
    if (!head.is_map()) {
      if (head.task == ModelTask::classification) head.activate({raw.data(), raw.size()});
      const bool own = head.task == ModelTask::regression;
      const double share = 1.0 / static_cast<double>(flips_.size() * (own ? 1 : sessions_.size()));
      double* to = work.out->numbers[k].data() + (own ? work.member * raw.size() : 0);
      for (std::size_t c = 0; c < raw.size(); ++c) to[c] += share * static_cast<double>(raw[c]);
      continue;
    }
    const bool whole = head.height == model.height;
    if (is_in_place(head)) continue;
    std::span<float> values(raw.data(), raw.size());
    if (!whole) {
      work.enlarged.resize(head.classes.size() * pixels());
      window::enlarge(values, height, width, height / static_cast<std::size_t>(head.height),
                      {work.enlarged.data(), work.enlarged.size()});
      values = {work.enlarged.data(), work.enlarged.size()};
    }
    window::flip(values, height, width, flip.rows, flip.columns);
    take_map(work, k, values);
  }
}

void Ensemble::take_map(Work& work, std::size_t k, std::span<float> values) {
  const Head& head = heads()[k];
  Buffer<float>& sum = flips_.size() > 1 ? work.sum : work.out->maps;
  sum.resize(channels_ * pixels());
  float* to = sum.data() + map_at_[k] * pixels();
  if (work.member == 0) {
    std::copy(values.begin(), values.end(), to);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) to[i] += values[i];
  }
  // Votes are counted on the window that is not flipped.
  if (sessions_.size() == 1 || work.flip > 0 || head.task != ModelTask::segmentation) return;
  head.activate(values);
  work.labels.resize(pixels());
  work.of_first.resize(heads().size());
  work.differing.resize(heads().size());
  work.of_first[k].resize(pixels());
  work.differing[k].resize(pixels());
  const bool first = work.member == 0;
  std::uint8_t *labels = (first ? work.of_first[k] : work.labels).data(), *differing = work.differing[k].data();
  window::label(values, ones_, head.least(), {labels, pixels()});
  for (std::size_t i = 0; i < pixels(); ++i) {
    const unsigned any = labels[i] > 0 ? 2 : 0;
    differing[i] = static_cast<std::uint8_t>(
        first ? any : differing[i] | any | (labels[i] != work.of_first[k].data()[i] ? 1U : 0U));
  }
}

// Called when all networks have processed one flip.
void Ensemble::end_flip(Work& work) {
  const bool flips = flips_.size() > 1;
  Buffer<float>& sum = flips ? work.sum : work.out->maps;
  for (std::size_t k = 0; k < heads().size(); ++k) {
    const Head& head = heads()[k];
    if (!head.is_map()) continue;
    const std::span<float> values(sum.data() + map_at_[k] * pixels(), head.classes.size() * pixels());
    if (sessions_.size() > 1 && head.task == ModelTask::segmentation) {
      const auto count = static_cast<float>(sessions_.size());
      for (float& value : values) value /= count;
      if (work.flip == 0) {
        Disagreement& votes = work.out->votes[k];
        for (std::size_t i = 0; i < pixels(); ++i) {
          const std::uint8_t each = work.differing[k].data()[i];
          votes.differ += each & 1U;
          votes.any += each > 0 ? 1 : 0;
        }
      }
    }
    if (!flips) continue;
    if (is_activated()) head.activate(values);
    float* out = work.out->maps.data() + map_at_[k] * pixels();
    const auto count = static_cast<float>(flips_.size());
    const bool last = work.flip + 1 == flips_.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[i] = work.flip == 0 ? values[i] : out[i] + values[i];
      if (last) out[i] /= count;
    }
  }
}

Attributes make_provenance(const std::vector<PictureModel>& models, const Ensemble& ensemble) {
  Attributes out;
  for (std::size_t k = 0; k < models.size(); ++k) {
    for (auto& [key, value] : make_provenance(models[k], ensemble.session(k))) {
      // Facts that all networks share, or must share, are listed once.
      const bool of_all = key == "runtime" || key == "precision" || key == "cpu" || key == "window";
      if (k == 0 || !of_all) out.emplace_back(k == 0 ? key : fmt::format("{} of model {}", key, k + 1), value);
    }
  }
  return out;
}

}  // namespace millrace::model
