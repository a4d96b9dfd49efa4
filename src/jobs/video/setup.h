// Input: options.
// Output: all that is known before the first picture: the film, the model, the encoder, what goes between them, and
//   what cannot be carried over.
// Never: writes anything.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "src/io/output/output.h"
#include "src/io/store/dataset.h"
#include "src/io/video/film_muxer.h"
#include "src/jobs/video/compositor.h"
#include "src/jobs/video/encoders.h"
#include "src/jobs/video/frames.h"
#include "src/jobs/video/look.h"
#include "src/jobs/video/mattes.h"

namespace millrace::video {

// What all films of a run are made by: options, and the networks, which may be null.
Attributes asked(const Options& options, const Network* network, const Network* fast_network);

class Setup {
 public:
  // Failure for all that can be known before the work. `networks` live longer.
  Setup(const Options& options, Networks& networks, RunContext& context);

  Options options;  // checked
  film::FilmFile film;
  std::vector<std::string> filled_in;  // of its colours
  std::vector<std::string> notes;      // what of the film will not be in the new one, besides streams
  Encoding encoding;
  Composition composition;
  std::string container;

  // Who is asked first, of all of a picture; and who is asked then, where that does not do. Null where there is none.
  Network *network = nullptr, *fast_network = nullptr;
  std::unique_ptr<Looking> first, second;
  std::unique_ptr<Mattes> mattes;
  std::int32_t mask_width = 1, mask_height = 1;  // before it is cleaned
  std::uint16_t threshold = matte::kOne / 2;
  Frames::How cut;

  // About; 0: nobody says.
  std::uint64_t expected_frames() const;
  bool has_masks() const { return first || mattes; }
  // Pictures that come once more with the next piece.
  std::size_t warm() const { return cut.warm; }
  std::unique_ptr<film::FilmMuxer> muxer;  // none where masks are files; it serves once
  void open_muxer(RunContext& context);

  // Pictures in flight, and what all of that takes.
  std::size_t tokens = 0;
  std::uint32_t decoder_slots = 0, encoder_slots = 0;
  Bytes frame;                     // one of them
  Bytes beside, decoder, encoder;  // slots that they do not need; what the helpers take

  // What the film is made of, for run.json.
  Attributes made_of() const;
  // The same as a number, for the film itself: by it a later run sees that nothing is left to do.
  std::string digest() const;
  // What pieces say of what computes: empty where that is the same for all of the film.
  std::string maker() const;
  // "person.onnx in f32 by OpenVINO 2026.4.1", or by each that pieces name; empty without a network.
  std::string network_words(const std::set<std::string>& makers) const;
  // What made_of() begins with.
  static Attributes::value_type mark() { return {kJsonMark, "video run"}; }

 private:
  void set_output(RunContext& context);
  void note_losses();
  void set_masks(Networks& networks, RunContext& context);
  void plan_memory(RunContext& context);
};

}  // namespace millrace::video
