// Input: the outputs of a network, as its file and its card describe them.
// Output: the meaning and the size of each output that is used.
// Never: runs the network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/model/model_card.h"
#include "src/model/session.h"

namespace millrace::model {

struct Head {
  std::string name;        // names its results; empty where the network has one output
  std::size_t output = 0;  // index among the network's outputs
  std::string source;      // the network's name for it
  ModelTask task = ModelTask::segmentation;
  Activation activation = Activation::none;
  double threshold = 0.5;
  std::vector<ClassCard> classes;
  std::int64_t height = 0, width = 0;  // size of the output; 0 where it is numbers
  std::size_t first_color = 0;         // first colour for classes without their own, so that outputs look different

  bool is_map() const { return task == ModelTask::segmentation || task == ModelTask::keypoints; }
  // True where a pixel may be background, which is 0. That is so for a single class, or for classes that do not exclude
  // each other, where none is likely enough; classes count from 1. Otherwise a pixel is the likeliest class.
  bool has_background() const { return classes.size() == 1 || activation == Activation::sigmoid; }
  // Meaning of a mask's numbers from 0 on: names, colours, and whether they are drawn.
  struct Label {
    std::string name;
    std::array<std::uint8_t, 3> color;
    bool drawn;
  };
  std::vector<Label> labels() const;
  // For a mask with has_background(): the least probability of a pixel that is not background.
  std::optional<float> least() const {
    return has_background() ? std::optional(static_cast<float>(threshold)) : std::nullopt;
  }
  // Applies the activation in place to [classes, ...].
  void activate(std::span<float> values) const;
};

// Splits the values of all maps, [channels, ...], head after head, into one span for each head; empty for a head that
// is no map.
template <typename T>
std::vector<std::span<T>> maps_of(const std::vector<Head>& heads, std::span<T> values) {
  std::size_t channels = 0;
  for (const Head& head : heads) channels += head.is_map() ? head.classes.size() : 0;
  const std::size_t each = channels == 0 ? 0 : values.size() / channels;
  std::vector<std::span<T>> out;
  for (const Head& head : heads) {
    const std::size_t size = head.is_map() ? each * head.classes.size() : 0;
    out.push_back(values.first(size));
    values = values.subspan(size);
  }
  return out;
}

// A person's options for all outputs, which have priority over the card.
struct HeadOptions {
  std::optional<Activation> activation;
  std::optional<double> threshold;
};

// Makes the heads of a network whose input is height x width. An output that is smaller by a whole factor, the same for
// both sides, is a map of that resolution. Throws Failure(unsupported) for any other output, or where it is not known
// which of several are used; (usage) for a threshold without a meaning; (bad_data) for a card that names a missing
// output.
std::vector<Head> make_heads(const std::string& model, const ModelCard& card, const HeadOptions& options,
                             const std::vector<Output>& outputs, std::int64_t height, std::int64_t width);

// Returns "vessel #e69f00, ...", for the provenance of results.
std::string text_of(const std::vector<Head::Label>& labels);

}  // namespace millrace::model
