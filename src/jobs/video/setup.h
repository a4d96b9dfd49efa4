// Enters: options.
// Leaves: all that is known before the first picture: the film, the model, the encoder, what goes between them, and what
//   cannot be carried over.
// Never: writes anything.
#pragma once

#include <memory>
#include <optional>

#include "src/io/store/dataset.h"
#include "src/io/video/film_muxer.h"
#include "src/jobs/video/compositor.h"
#include "src/jobs/video/encoders.h"
#include "src/jobs/video/model_view.h"
#include "src/model/session.h"

namespace millrace::video {

class Setup {
 public:
  // Failure for all that can be known before the work.
  Setup(const Options& options, RunContext& context);

  film::FilmFile film;
  std::vector<std::string> filled_in;  // of its colours
  Encoding encoding;
  Composition composition;
  std::string container;

  // Where there is a model.
  struct Network {
    Network(const Options& options, const film::Shape& shape, int rotation, RunContext& context);
    model::PictureModel model;
    int requests;
    model::Session session;
    std::size_t outputs;
    ModelView view;
    Bytes memory;
    Reservation paid;

    std::size_t output_elements() const {
      return outputs * static_cast<std::size_t>(model.height * model.width);
    }
  };
  std::unique_ptr<Network> network;
  std::unique_ptr<film::FilmMuxer> muxer;

  // Pictures in flight, and what all of that takes.
  std::size_t tokens = 0;
  std::uint32_t decoder_slots = 0, encoder_slots = 0;
  Bytes frame;                     // one of them
  Bytes beside, decoder, encoder;  // slots that they do not need; what the helpers take

  // What the film is made of, for run.json.
  Attributes made_of(const Options& options) const;

 private:
  void plan_memory(const Options& options, RunContext& context);
};

}  // namespace millrace::video
