// Input: a picture, and films of its folder that no name gives to a picture.
// Output: those that are the other half of its Live Photo, by the identifier that Apple's cameras give both.
// Never: reads a file twice; or a film before a picture with an identifier asks for those of its folder.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace millrace::dedupe {

class LiveFilms {
 public:
  explicit LiveFilms(const std::vector<std::string>& films);

  std::vector<std::string> of(const std::string& picture);
  // Both have an identifier, and not the same one: the camera's counter began anew.
  bool is_of_another(const std::string& film, const std::string& picture);

 private:
  const std::string& identifier_of_film(const std::string& path);
  const std::string& identifier_of_picture(const std::string& path);

  std::map<std::string, std::vector<std::string>> unread_;                                // films, by folder
  std::map<std::string, std::map<std::string, std::vector<std::string>>> by_identifier_;  // in each folder
  std::map<std::string, std::string> known_;                                              // identifiers, by path
};

}  // namespace millrace::dedupe
