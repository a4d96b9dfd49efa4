#include "src/jobs/dedupe/scan/albums.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "src/base/paths.h"

namespace millrace::dedupe {

void find_albums(const std::vector<std::string>& roots, Library& library) {
  std::set<std::string> folders;
  for (const std::string& root : roots) {
    std::error_code ignored;
    folders.insert(std::filesystem::is_directory(root, ignored) ? root : folder_of(root));
  }
  const bool one = folders.size() == 1;
  const auto album_of = [&](const std::string& path) -> std::string {
    std::string innermost;
    for (const std::string& folder : folders) {
      if (is_inside(path, folder) && folder.size() >= innermost.size()) innermost = folder;
    }
    if (!one) return innermost;
    const std::size_t begin = innermost == "/" ? 1 : innermost.size() + 1, end = path.find('/', begin);
    return end == std::string::npos ? innermost : path.substr(0, end);
  };
  std::map<std::string, std::uint32_t> numbers;
  for (const LibraryFile& file : library.files) numbers.emplace(album_of(file.entry.path), 0);
  std::uint32_t next = 0;
  for (auto& [folder, number] : numbers) number = next++;
  for (LibraryFile& file : library.files) file.album = numbers.at(album_of(file.entry.path));
}

void split_by_albums(Library& library) {
  std::vector<LibraryPicture> split;
  split.reserve(library.pictures.size());
  for (LibraryPicture& picture : library.pictures) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> files;
    for (const std::uint32_t f : picture.files) files[library.files[f].album].push_back(f);
    // A picture without files, as companions are, stays unchanged.
    if (files.empty()) files.emplace(0, std::vector<std::uint32_t>());
    for (auto& [album, of_album] : files) split.push_back({picture.data, std::move(of_album), album});
  }
  library.pictures = std::move(split);
  for (std::uint32_t p = 0; p < library.pictures.size(); ++p) {
    for (const std::uint32_t f : library.pictures[p].files) library.files[f].picture = p;
  }
}

}  // namespace millrace::dedupe
