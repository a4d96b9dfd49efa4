#include "src/report/page/page.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "src/report/plot/figure_for_test.h"
#include "src/report/plot/line_plot.h"

namespace millrace::report {
namespace {

Figure some_figure() {
  LinePlot plot;
  plot.title = "A <figure>";
  plot.caption = "What it shows.";
  plot.x_title = "step";
  plot.x = {0, 1};
  plot.names = {"a"};
  plot.panels = {{"a metric", "", {{{1, 2}, {}, {}}}}};
  return draw(plot);
}

std::string page_with(const std::string& name) {
  PageWriter page(name, "test");
  page.lead(name);
  page.facts({{name, name}});
  page.section(name);
  page.subsection(name);
  page.paragraph(name);
  page.note(name);
  page.warning(name);
  page.list({name});
  page.table({{{name}, {name, true}}, {{name, name}, {name}}, name});
  Figure figure = some_figure();
  figure.title = figure.caption = name;
  page.figure(figure);
  page.open_more(name);
  page.close_more();
  return page.finish();
}

TEST(PageTest, ItStandsAloneBehindAStrictPolicy) {
  const std::string page = page_with("a name");
  EXPECT_TRUE(page.starts_with(page_beginning("test")));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  std::smatch policy;
  ASSERT_TRUE(std::regex_search(page, policy, std::regex("Content-Security-Policy\" content=\"([^\"]*)\"")));
  const std::string text = policy[1];
  EXPECT_TRUE(text.starts_with("default-src 'none'; style-src 'sha256-")) << text;
  EXPECT_EQ(text.find("unsafe"), std::string::npos);
  EXPECT_EQ(text.find("hash"), std::string::npos) << "a marker that was not filled";
  for (const char* outside : {"src=\"http", "href=\"http", "url(", "@import", " style=", " onclick="}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_EQ(count_of(page, "<script"), 1u);
  EXPECT_EQ(count_of(page, "</script>"), 1u);
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST(PageTest, NamesOfStrangersCannotBreakOut) {
  const std::string page = page_with(kHostileName);
  EXPECT_EQ(count_of(page, "</script"), 1u);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("&#0;"), std::string::npos);
  EXPECT_EQ(page.find("\u202e"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  // The page has as many tags as one with a plain name.
  EXPECT_EQ(count_of(page, "<"), count_of(page_with("plain"), "<"));
  for (const char* marker : {"<!--data-->", "<!--title-->", "<!--maker-->", "</style>", "-->"}) {
    EXPECT_EQ(count_of(page_with(marker), "<"), count_of(page_with("plain"), "<")) << marker;
  }
}

TEST(PageTest, AnchorsAreUniqueAndAllOfTheContentsLead) {
  PageWriter page("t", "test");
  for (const char* title : {"A section", "a section", "a section 2", "A section", "", "\u00e9", "figure"})
    page.section(title);
  page.subsection("A section");
  page.figure(some_figure());
  const std::string text = page.finish();
  std::set<std::string> ids;
  const std::regex id(" id=\"([^\"]*)\""), link("href=\"#([^\"]*)\"");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), id); at != std::sregex_iterator(); ++at) {
    EXPECT_TRUE(ids.insert((*at)[1]).second) << (*at)[1];
  }
  std::size_t links = 0;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), link); at != std::sregex_iterator(); ++at, ++links) {
    EXPECT_TRUE(ids.contains((*at)[1])) << (*at)[1];
  }
  EXPECT_EQ(links, 7u);
}

TEST(PageTest, AFigureHasATitleWordsAndItsNumbers) {
  PageWriter page("t", "test");
  page.figure(some_figure());
  const std::string text = page.finish();
  EXPECT_NE(text.find("Figure 1</span><b>A &lt;figure&gt;</b>"), std::string::npos);
  EXPECT_NE(text.find("<p>What it shows.</p>"), std::string::npos);
  EXPECT_NE(text.find("<title>A &lt;figure&gt;</title>"), std::string::npos);
  EXPECT_NE(text.find("<summary>Numbers</summary>"), std::string::npos);
  EXPECT_NE(text.find("<td class=\"n\">2.000</td>"), std::string::npos);
}

TEST(PageTest, ShortRowsAreFilledAndTheSameBytesComeAgain) {
  PageWriter page("t", "test");
  page.table({{{"a"}, {"b", true}}, {{"x"}}, ""});
  EXPECT_NE(page.finish().find("<tr><td>x</td><td class=\"n\"></td></tr>"), std::string::npos);
  EXPECT_EQ(page_with("x"), page_with("x"));
}

}  // namespace
}  // namespace millrace::report
