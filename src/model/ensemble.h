// Input: windows of an image, one by one.
// Output: the combined result of several networks on each window and on its flips: means of their outputs, and the
// number of pixels where they disagree.
// Never: changes a number with the number of windows in progress, or with the order in which networks end.
//
// Outputs for masks: the mean of the raw outputs over networks; then the mean over flips, flipped back, of raw outputs
// or of activated ones. Classes of an image: the mean over networks and flips of activated outputs. Numbers of an
// image: for each network the mean over flips. Maps of points: the sum over networks, the mean over flips. A map of a
// lower resolution is first enlarged to the window.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/memory/buffer.h"
#include "src/memory/object_pool.h"
#include "src/model/picture_model.h"

namespace millrace::model {

// Flips that are used besides the window itself: top and bottom exchanged, left and right exchanged, or these two and
// both together.
enum class Flips : std::uint8_t { none, h, w, hw };
constexpr std::array<Choice<Flips>, 4> choices_of(Flips) {
  return {{{"none", Flips::none}, {"h", Flips::h}, {"w", Flips::w}, {"hw", Flips::hw}}};
}
enum class FlipMean : std::uint8_t { probability, raw };
constexpr std::array<Choice<FlipMean>, 2> choices_of(FlipMean) {
  return {{{"probability", FlipMean::probability}, {"raw", FlipMean::raw}}};
}

// Form of a window that a network takes as its input.
struct InputForm {
  std::vector<std::size_t> order;
  std::vector<window::LevelTable> levels;
};

// Number of a window's pixels where networks disagree on the label, and where at least one has any label.
struct Disagreement {
  std::uint64_t differ = 0, any = 0;
};

struct Prediction {
  Buffer<float> maps;                        // [channels of all maps, height, width], head after head
  std::vector<std::vector<double>> numbers;  // for each head that is no map: [classes], or [networks x classes]
  std::vector<Disagreement> votes;           // for each head; empty for a single network
};

class Ensemble {
 public:
  struct Options {
    int threads = 1, requests = 2;
    Flips flips = Flips::none;
    FlipMean mean = FlipMean::probability;
    std::string cache;                    // as in SessionOptions
    const CancelToken* cancel = nullptr;  // as in SessionOptions; checked while sessions are created
  };

  // The networks must take windows of one size and have the same outputs; otherwise this throws Failure(unsupported),
  // with the one that differs. Their heads are known after this. `models` must live as long as this object.
  Ensemble(std::vector<PictureModel>& models, const PictureModelOptions& picture_options, Options options);
  // Waits for windows in progress.
  ~Ensemble();
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  // Heads of one network, which are those of all. is_activated(): the outputs are activated already, because they are
  // means of probabilities.
  const std::vector<Head>& heads() const { return models_.front().heads; }
  bool is_activated() const { return flips_.size() > 1 && options_.mean == FlipMean::probability; }
  // The different forms. A window's input has one form after the other, each [channels, height, width].
  const std::vector<InputForm>& forms() const { return forms_; }
  const Session& session(std::size_t k) const { return *sessions_[k]; }
  // Reason why a compiled network was not cached; empty where all are.
  std::string cache_failure() const;

  // Bytes that a window takes while it is in progress: its input, its prediction, and intermediate results.
  Bytes bytes() const;
  // These act on all sessions, as the functions of Session do.
  void interrupt();
  void go_on();
  Session::Memory measure();

  // `input` and `out` must stay valid until `done` is called, once, as Session::Completion describes.
  void submit(const float* input, Prediction& out, Session::Completion done);

 private:
  struct Flip {
    bool rows = false, columns = false;
  };
  struct Work;

  void check_same_outputs() const;
  std::pair<const float*, std::vector<float*>> prepare(Work& work);
  void next(std::shared_ptr<Work> work);
  void step(Work& work);
  void end(std::shared_ptr<Work> work, const Error* error);
  // True where a map needs no processing: it has full resolution and nothing is added to it. It is written directly to
  // its destination.
  bool is_in_place(const Head& head) const {
    return sessions_.size() == 1 && flips_.size() == 1 && head.is_map() && head.height == models_.front().height;
  }
  void take(Work& work);
  void take_map(Work& work, std::size_t head, std::span<float> values);
  void end_flip(Work& work);
  std::size_t pixels() const { return static_cast<std::size_t>(models_.front().height * models_.front().width); }

  std::vector<PictureModel>& models_;
  const Options options_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<Flip> flips_;
  std::vector<InputForm> forms_;
  std::vector<std::size_t> form_of_, form_at_;  // form of each network; offset of each form
  std::vector<std::size_t> map_at_;             // first channel of each head
  std::size_t channels_ = 0, input_elements_ = 0;
  std::vector<float> ones_;  // weights for label()
  std::unique_ptr<ObjectPool<Work>> works_;
  Mutex mutex_;
  Condition ended_;
  std::size_t under_way_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

// Provenance of its results, for the record of a run.
Attributes make_provenance(const std::vector<PictureModel>& models, const Ensemble& ensemble);

}  // namespace millrace::model
