#include "src/jobs/dedupe/scan/live_films.h"

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/io/image/live_photo.h"

namespace millrace::dedupe {
namespace {

// True for a video that is small enough: the video of a Live Photo lasts three seconds.
bool may_be_half(const std::string& film) {
  constexpr std::uint64_t kMost = 64 << 20;
  const std::string kind = extension(film);
  if (kind != "mov" && kind != "mp4" && kind != "m4v") return false;
  const auto state = state_of(film);
  return state && state->size <= kMost;
}

}  // namespace

LiveFilms::LiveFilms(const std::vector<std::string>& films) {
  for (const std::string& film : films) unread_[folder_of(film)].push_back(film);
}

std::vector<std::string> LiveFilms::of(const std::string& picture) {
  const std::string folder = folder_of(picture);
  const auto unread = unread_.find(folder);
  if (unread == unread_.end() && by_identifier_.count(folder) == 0) return {};
  const std::string& identifier = identifier_of_picture(picture);
  if (identifier.empty()) return {};
  auto& films = by_identifier_[folder];
  if (unread != unread_.end()) {
    for (const std::string& film : unread->second) films[identifier_of_film(film)].push_back(film);
    unread_.erase(unread);
  }
  const auto found = films.find(identifier);
  return found == films.end() ? std::vector<std::string>() : found->second;
}

bool LiveFilms::is_of_another(const std::string& film, const std::string& picture) {
  const std::string& of_film = identifier_of_film(film);
  if (of_film.empty()) return false;
  const std::string& of_picture = identifier_of_picture(picture);
  return !of_picture.empty() && of_picture != of_film;
}

const std::string& LiveFilms::identifier_of_film(const std::string& path) {
  const auto [at, fresh] = known_.try_emplace(path);
  if (fresh && may_be_half(path)) at->second = live_photo_of_film(path);
  return at->second;
}

const std::string& LiveFilms::identifier_of_picture(const std::string& path) {
  const auto [at, fresh] = known_.try_emplace(path);
  if (fresh) at->second = live_photo_of_picture(path);
  return at->second;
}

}  // namespace millrace::dedupe
