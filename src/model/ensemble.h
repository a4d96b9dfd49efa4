// Input: windows of a picture, one by one.
// Output: what several networks make of each, and of each turned over, as one: means of their outputs, and where they
//   disagree.
// Never: changes a number by how many windows are under way, or in what order networks end.
//
// A mask's outputs: the mean over networks of the raw ones; over flips, turned back, of the raw ones or of what the
// activation makes of them. Classes of a picture: the mean over networks and flips of what the activation makes.
// Numbers of a picture: of each network its own, the mean over flips. Maps of points: the sum over networks, the mean
// over flips. A map of a lower resolution is enlarged to the window's first.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/memory/buffer.h"
#include "src/memory/pool.h"
#include "src/model/picture_model.h"

namespace millrace::model {

// Beside the window itself: top and bottom changed, left and right, or each of these and both.
enum class Flips : std::uint8_t { none, h, w, hw };
constexpr std::array<Choice<Flips>, 4> choices_of(Flips) {
  return {{{"none", Flips::none}, {"h", Flips::h}, {"w", Flips::w}, {"hw", Flips::hw}}};
}
enum class FlipMean : std::uint8_t { probability, raw };
constexpr std::array<Choice<FlipMean>, 2> choices_of(FlipMean) {
  return {{{"probability", FlipMean::probability}, {"raw", FlipMean::raw}}};
}

// What a window becomes for a network.
struct Form {
  std::vector<std::size_t> order;
  std::vector<window::Levels> levels;
};

// In how many of a window's pixels networks give different labels, and in how many at least one gives any.
struct Votes {
  std::uint64_t differ = 0, any = 0;
};

struct Prediction {
  Buffer<float> maps;                        // [channels of all maps, height, width], head after head
  std::vector<std::vector<double>> numbers;  // of each head that is no map: [classes], or [networks x classes]
  std::vector<Votes> votes;                  // of each head; without several networks none
};

class Ensemble {
 public:
  struct Options {
    int threads = 1, requests = 2;
    Flips flips = Flips::none;
    FlipMean mean = FlipMean::probability;
    std::string cache;                    // as SessionOptions has it
    const CancelToken* cancel = nullptr;  // likewise: looked at while it is made
  };

  // All of them take windows of one size, and give the same: Failure(unsupported) that says which does not. Their heads
  // are known from now on. `models` must live as long as it.
  Ensemble(std::vector<PictureModel>& models, const PictureModelOptions& said, Options options);
  // Waits for windows that are under way.
  ~Ensemble();
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  // Of one network, as all have them. Where their activation is in what comes out, as it is of means of probabilities,
  // is_activated().
  const std::vector<Head>& heads() const { return models_.front().heads; }
  bool is_activated() const { return flips_.size() > 1 && options_.mean == FlipMean::probability; }
  // Those that differ; input of a window is one after the other, each [channels, height, width].
  const std::vector<Form>& forms() const { return forms_; }
  const Session& session(std::size_t k) const { return *sessions_[k]; }
  // Why what was compiled of one of them is not kept; empty where all of it is.
  std::string not_cached() const;

  // What a window takes while it is under way: input, prediction, and what is between.
  Bytes bytes() const;
  // As Session has them, of all.
  void interrupt();
  void go_on();
  Session::Memory measure();

  // `input` and `out` stay as they are until `done`, which is called once, as Session::Done has it.
  void submit(const float* input, Prediction& out, Session::Done done);

 private:
  struct Flip {
    bool rows = false, columns = false;
  };
  struct Work;

  void check_alike() const;
  std::pair<const float*, std::vector<float*>> prepare(Work& work);
  void next(std::shared_ptr<Work> work);
  void step(Work& work);
  void end(std::shared_ptr<Work> work, const Error* error);
  // It is whole as the network gives it, and nothing is added to it: it goes where it belongs at once.
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
  std::vector<Form> forms_;
  std::vector<std::size_t> form_of_, form_at_;  // of each network its form; of each form where it begins
  std::vector<std::size_t> map_at_;             // of each head: its first channel
  std::size_t channels_ = 0, input_elements_ = 0;
  std::vector<float> ones_;  // what label() takes for weights
  std::unique_ptr<Pool<Work>> works_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t under_way_ = 0;
};

// What its results are made of, for a record of a run.
Attributes made_of(const std::vector<PictureModel>& models, const Ensemble& ensemble);

}  // namespace millrace::model
