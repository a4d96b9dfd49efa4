// Input: texts, tables and figures, in the order in which they are read.
// Output: one self-contained HTML page: no network, no fonts; the same bytes for the same input.
// Never: contains the time of day, a text that is not escaped, or code other than the page's own script.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/report/figure.h"

namespace millrace::report {

// Number at the top of the page, with its meaning.
struct PageFact {
  std::string value, words;
};

// Layer that is drawn on pictures, and that a reader may hide: a class of a mask.
struct PageLayer {
  std::string name;
  std::array<std::uint8_t, 3> color{};
};
// Picture with the layers that are drawn on it.
struct PagePicture {
  std::string title;
  std::vector<std::string> marks;       // reasons to check it
  std::vector<std::uint8_t> jpeg;       // empty if there is none; it is gray then
  std::uint32_t width = 0, height = 0;  // size of the layers, which cover it
  // Layers, each with a PNG that has a transparent background.
  std::vector<std::pair<std::size_t, std::vector<std::uint8_t>>> drawn;
  std::vector<std::size_t> ranks;  // its place in each of the offered orders
  std::vector<PageFact> facts;
};

// Texts may be of any bytes; they are shown as by escape_html_name() (src/report/html.h).
class PageWriter {
 public:
  // `job` is the command, for example "latents".
  PageWriter(std::string_view title, std::string_view job);

  // Functions for the head of the page, in front of the contents: the answer.
  void lead(std::string_view paragraph);
  void facts(const std::vector<PageFact>& facts);

  // Functions for the body of the page; sections are in the contents too.
  void section(std::string_view title);
  void subsection(std::string_view title);
  void paragraph(std::string_view text);
  void note(std::string_view text);
  // Adds a paragraph with "Note: " in front, and a mark beside it.
  void warning(std::string_view text);
  void list(const std::vector<std::string>& items);
  void table(const Table& table);
  void figure(const Figure& figure);
  // Pictures between these two can be compared with their layers, enlarged, and searched by their titles. Readers can
  // sort them by `orders`, the first of which is the given one.
  void open_pictures(const std::vector<PageLayer>& layers, const std::vector<std::string>& orders);
  void picture(const PagePicture& picture);
  void close_pictures();
  // Figures between these two are side by side where there is room.
  void open_grid();
  void close_grid();
  // Content between these two is folded until a reader opens it.
  void open_more(std::string_view summary);
  void close_more();

  std::string finish();

 private:
  std::string& out() { return in_section_ ? body_ : lead_; }
  std::string anchor_of(std::string_view title);

  std::string title_, job_, lead_, facts_, contents_, body_;
  std::map<std::string, int> anchors_;
  bool in_section_ = false;
  int figures_ = 0;
};

// Returns the beginning of a page by this maker, by which such a page is recognized.
std::string page_beginning(std::string_view job);

}  // namespace millrace::report
