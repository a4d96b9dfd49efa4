// Input: words, tables and figures, in the order in which they are read.
// Output: one HTML page that needs nothing else: no network, no fonts; the same bytes for the same input.
// Never: the time of day; a text that is not escaped; anything that runs but the page's own script.
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

// A number that is read first, and what it is of.
struct Fact {
  std::string value, words;
};

// What is drawn on pictures, of which a reader may hide some: a class of a mask.
struct Layer {
  std::string name;
  std::array<std::uint8_t, 3> color{};
};
// A picture with what is drawn on it.
struct Picture {
  std::string title;
  std::vector<std::string> marks;                                        // why somebody should look at it
  std::vector<std::uint8_t> jpeg;                                        // empty: there is none, and it is gray
  std::uint32_t width = 0, height = 0;                                   // of what is drawn, which covers it
  std::vector<std::pair<std::size_t, std::vector<std::uint8_t>>> drawn;  // of a layer a PNG with a clear ground
  std::vector<std::size_t> ranks;  // its place in each of the orders that were offered
  std::vector<Fact> facts;
};

// All texts are of any bytes and are shown as html_name (src/report/html.h) shows them.
class PageWriter {
 public:
  // `maker`: the job, "latents".
  PageWriter(std::string_view title, std::string_view maker);

  // What stands in front of the contents: the answer.
  void lead(std::string_view paragraph);
  void facts(const std::vector<Fact>& facts);

  // What follows; in the contents too.
  void section(std::string_view title);
  void subsection(std::string_view title);
  void paragraph(std::string_view text);
  void note(std::string_view text);
  // "Note: " in front, and a mark beside it.
  void warning(std::string_view text);
  void list(const std::vector<std::string>& items);
  void table(const Table& table);
  void figure(const Figure& figure);
  // Pictures between these two can be compared with what is drawn on them, enlarged, put in one of these orders, of
  // which the first is theirs, and searched by their titles.
  void open_pictures(const std::vector<Layer>& layers, const std::vector<std::string>& orders);
  void picture(const Picture& picture);
  void close_pictures();
  // Figures between these two stand side by side where there is room.
  void open_grid();
  void close_grid();
  // What is between these two is shown when it is asked for.
  void open_more(std::string_view summary);
  void close_more();

  std::string finish();

 private:
  std::string& out() { return in_section_ ? body_ : lead_; }
  std::string anchor_of(std::string_view title);

  std::string title_, maker_, lead_, facts_, contents_, body_;
  std::map<std::string, int> anchors_;
  bool in_section_ = false;
  int figures_ = 0;
};

// How a page of this maker begins, by which one is recognized.
std::string page_beginning(std::string_view maker);

}  // namespace millrace::report
