#include "src/io/file/lines.h"

#include <algorithm>

namespace millrace {

Outcome<bool> for_each_line(FileReader& file, std::size_t longest,
                            const std::function<bool(const std::string&)>& take) {
  std::string line;
  for (auto bytes = file.next(); !bytes.empty(); bytes = file.next()) {
    for (auto at = bytes.begin(); at != bytes.end();) {
      const auto end = std::find(at, bytes.end(), '\n');
      line.append(at, end);
      if (line.size() > longest) return false;
      if (end == bytes.end()) break;
      if (!take(line)) return false;
      line.clear();
      at = end + 1;
    }
  }
  if (file.failed()) return file.error();
  return line.empty();
}

}  // namespace millrace
