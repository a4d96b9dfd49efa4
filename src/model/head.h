// Input: what a network gives, as its file and its card have it.
// Output: of each output that counts what it means, and how large it is.
// Never: runs the network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/model/card.h"
#include "src/model/session.h"

namespace millrace::model {

struct Head {
  std::string name;        // as results are named by it; empty where the network has one output
  std::size_t output = 0;  // of the network's
  std::string source;      // what the network calls it
  Task task = Task::segmentation;
  Activation activation = Activation::none;
  double threshold = 0.5;
  std::vector<ClassCard> classes;
  std::int64_t height = 0, width = 0;  // of what the network gives; 0 where that is numbers
  std::size_t first_color = 0;         // of classes without their own, such that two outputs look different

  bool is_map() const { return task == Task::segmentation || task == Task::keypoints; }
  // A pixel of the mask is the likeliest class; or, where there is one alone or they do not exclude each other, 0 where
  // none is likely enough, else 1 and on.
  bool has_none() const { return classes.size() == 1 || activation == Activation::sigmoid; }
  // What the mask's numbers stand for: the colours of 0 and on, and whether they are drawn.
  struct Label {
    std::string name;
    std::array<std::uint8_t, 3> color;
    bool drawn;
  };
  std::vector<Label> labels() const;
  // Of a mask that has_none(): from which probability on a pixel is something.
  std::optional<float> least() const {
    return has_none() ? std::optional(static_cast<float>(threshold)) : std::nullopt;
  }
  // In place, of [classes, ...].
  void activate(std::span<float> values) const;
};

// Of values of all maps, [channels, ...], head after head, those of each head; of one that is no map none.
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

// What a person says of all outputs, before the card.
struct HeadOptions {
  std::optional<Activation> activation;
  std::optional<double> threshold;
};

// Of a network whose input is height x width. An output that is smaller, by a whole factor that is the same along both,
// is of that resolution. Failure(unsupported) where an output is something else, or nothing says which of several
// count; (usage) for a threshold that means nothing; (bad_data) for a card that names what is not there.
std::vector<Head> heads_of(const std::string& model, const Card& card, const HeadOptions& options,
                           const std::vector<Output>& outputs, std::int64_t height, std::int64_t width);

// "vessel #e69f00, ...", for a record of what results are made of.
std::string text_of(const std::vector<Head::Label>& labels);

}  // namespace millrace::model
