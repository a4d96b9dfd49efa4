#include "src/io/video/film_reader.h"

#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::film {

FilmReader::FilmReader(const FilmFile& film, std::uint32_t slots, int threads, Bytes memory,
                       std::optional<std::int64_t> from, const std::function<bool()>& cancelled)
    : slot_bytes_(layout_of(film.shape).bytes),
      slots_(slots),
      ours_(std::make_shared<std::vector<std::atomic<bool>>>(slots)),
      process_(std::make_shared<FilmProcess>(film.path, slot_bytes_ * slots, memory, cancelled)) {
  const Json what = {{"stream", film.stream},
                     {"threads", threads},
                     {"slot_bytes", slot_bytes_},
                     {"from", from.value_or(kNoTime)},
                     {"memory", memory.count}};
  Message message;
  message.say = Say::decode;
  process_->say(message, what.dump(), nullptr, 0, film.file->get());
}

std::optional<Picture> FilmReader::next() {
  if (ended_) return std::nullopt;
  process_->hear(heard_);
  const Message& said = heard_.message;
  if (said.say == Say::end) {
    ended_ = true;
    errors_ = said.errors;
    return std::nullopt;
  }
  if (said.say != Say::frame || !is_possible(said.shape) || said.slot >= slots_)
    throw Failure(ErrorCode::crashed, "the helper for film says what no helper says", process_->subject(), "");
  Picture out;
  out.shape = said.shape;
  out.pts = time_or_none(said.pts);
  out.duration = said.duration > 0 && said.duration < kMostTime ? said.duration : 0;
  out.errors = said.errors;
  out.damaged = said.damaged != 0;
  if (layout_of(said.shape).bytes > slot_bytes_) return out;
  if ((*ours_)[said.slot].exchange(true))
    throw Failure(ErrorCode::crashed, "the helper for film says what no helper says", process_->subject(), "");
  out.pixels =
      std::shared_ptr<const std::uint8_t>(process_->shared() + said.slot * slot_bytes_,
                                          [process = process_, ours = ours_, slot = said.slot](const std::uint8_t*) {
                                            (*ours)[slot] = false;
                                            Message back;
                                            back.say = Say::slot;
                                            back.slot = slot;
                                            process->say(back);
                                          });
  return out;
}

}  // namespace millrace::film
