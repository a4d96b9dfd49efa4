#include "src/report/page/page.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/report/html.h"
#include "src/report/page/page_html.h"

namespace millrace::report {
namespace {

// Largest width of a picture that shrinks on a narrow screen; wider ones scroll sideways.
constexpr int kWide = 700;

std::string element(std::string_view tag, std::string_view text, std::string_view attributes = {}) {
  return fmt::format("<{0}{1}{2}>{3}</{0}>\n", tag, attributes.empty() ? "" : " ", attributes, escape_html_name(text));
}

std::string table_html(const Table& table) {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const TableColumn& column : table.columns) {
    html +=
        fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"n\"" : "", escape_html_name(column.title));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      html += table.columns[i].number ? "<td class=\"n\">" : "<td>";
      if (i < row.size()) html += escape_html_name(row[i]);
      html += "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (!table.note.empty()) html += element("p", table.note, "class=\"note\"");
  return html;
}

// Returns the text in front of the marker; `html` becomes the text behind it.
std::string_view before(std::string_view& html, std::string_view marker) {
  const std::size_t at = html.find(marker);
  if (at == std::string_view::npos) {
    throw Failure(ErrorCode::internal, "the page has no marker " + std::string(marker));
  }
  const std::string_view head = html.substr(0, at);
  html.remove_prefix(at + marker.size());
  return head;
}

}  // namespace

PageWriter::PageWriter(std::string_view title, std::string_view job) : title_(title), job_(job) {}

void PageWriter::lead(std::string_view paragraph) { lead_ += element("p", paragraph); }

void PageWriter::facts(const std::vector<PageFact>& facts) {
  facts_ += "<dl class=\"facts\">\n";
  for (const PageFact& fact : facts)
    facts_ += "<div>" + element("dt", fact.words) + element("dd", fact.value) + "</div>\n";
  facts_ += "</dl>\n";
}

// Returns an anchor of letters, digits and hyphens; a second one of the same name gets a number.
std::string PageWriter::anchor_of(std::string_view title) {
  std::string anchor;
  for (const char c : lower_ascii(title)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) {
      anchor += c;
    } else if (!anchor.empty() && anchor.back() != '-') {
      anchor += '-';
    }
  }
  while (!anchor.empty() && anchor.back() == '-') anchor.pop_back();
  if (anchor.empty()) anchor = "section";
  const int count = ++anchors_[anchor];
  if (count == 1) return anchor;
  // The numbered anchor may itself be the name of a section.
  return anchor_of(fmt::format("{}-{}", anchor, count));
}

void PageWriter::section(std::string_view title) {
  in_section_ = true;
  const std::string anchor = anchor_of(title);
  contents_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchor, escape_html_name(title));
  body_ += element("h2", title, fmt::format("id=\"{}\"", anchor));
}

void PageWriter::subsection(std::string_view title) {
  out() += element("h3", title, fmt::format("id=\"{}\"", anchor_of(title)));
}

void PageWriter::paragraph(std::string_view text) { out() += element("p", text); }
void PageWriter::note(std::string_view text) { out() += element("p", text, "class=\"note\""); }
void PageWriter::warning(std::string_view text) {
  out() += "<p class=\"warning\"><b>Note: </b>" + escape_html_name(text) + "</p>\n";
}

void PageWriter::list(const std::vector<std::string>& items) {
  out() += "<ul class=\"list\">\n";
  for (const std::string& item : items) out() += element("li", item);
  out() += "</ul>\n";
}

void PageWriter::table(const Table& table) { out() += table_html(table); }

void PageWriter::figure(const Figure& figure) {
  const int number = ++figures_;
  out() += fmt::format(
      "<figure class=\"figure{}\" id=\"figure-{}\">\n<figcaption><span class=\"count\">Figure {}</span><b>{}</b>\n",
      figure.width > kWide ? " wide" : "", number, number, escape_html_name(figure.title));
  if (!figure.caption.empty()) out() += element("p", figure.caption);
  out() += "</figcaption>\n<div class=\"plot\" tabindex=\"0\">\n" + figure.svg + "</div>\n";
  out() += "<div class=\"below\"><details class=\"numbers\"><summary>Numbers</summary>\n" + table_html(figure.numbers) +
           "</details></div>\n</figure>\n";
}

void PageWriter::open_pictures(const std::vector<PageLayer>& layers, const std::vector<std::string>& orders) {
  // The script shows the controls.
  out() += "<div class=\"picture-tools\" role=\"toolbar\" aria-label=\"Pictures\" hidden>\n";
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const auto& [r, g, b] = layers[k].color;
    out() += fmt::format(
        "<label class=\"layer-check\"><input type=\"checkbox\" checked data-layer=\"{}\"><svg width=\"12\" "
        "height=\"12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" rx=\"2\" "
        "fill=\"#{:02x}{:02x}{:02x}\"/></svg>{}</label>\n",
        k, r, g, b, escape_html_name(layers[k].name));
  }
  out() += "<label>Order <select class=\"picture-order\">";
  for (std::size_t k = 0; k < orders.size(); ++k)
    out() += fmt::format("<option value=\"{}\">{}</option>", k, escape_html_name(orders[k]));
  out() +=
      "</select></label>\n<label class=\"picture-search\">Search <input type=\"search\" spellcheck=\"false\"></label>\n"
      "<span class=\"picture-count\" role=\"status\"></span>\n</div>\n<div class=\"pictures\">\n";
}

void PageWriter::picture(const PagePicture& picture) {
  std::string ranks;
  for (const std::size_t rank : picture.ranks) ranks += fmt::format("{}{}", ranks.empty() ? "" : " ", rank);
  const auto data = [](std::string_view type, const std::vector<std::uint8_t>& bytes) {
    return fmt::format("data:{};base64,{}", type,
                       to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  };
  const std::string sides = fmt::format("width=\"{}\" height=\"{}\"", picture.width, picture.height);
  out() += fmt::format("<figure class=\"picture\" data-ranks=\"{}\">\n<figcaption><b>{}</b>", ranks,
                       escape_html_name(picture.title));
  for (const std::string& mark : picture.marks) out() += " " + element("span", mark, "class=\"mark\"");
  out() += "</figcaption>\n<div class=\"stage\" tabindex=\"0\"><div class=\"pan\">";
  if (picture.jpeg.empty()) {
    out() += fmt::format(
        "<svg class=\"photo\" {} viewBox=\"0 0 {} {}\"><rect width=\"100%\" height=\"100%\" "
        "fill=\"#808080\"/></svg>",
        sides, picture.width, picture.height);
  } else {
    out() += fmt::format("<img class=\"photo\" alt=\"the photograph\" {} src=\"{}\">", sides,
                         data("image/jpeg", picture.jpeg));
  }
  out() += "<div class=\"drawn\">";
  for (const auto& [layer, png] : picture.drawn)
    out() += fmt::format("<img alt=\"\" data-layer=\"{}\" src=\"{}\">", layer, data("image/png", png));
  out() += "</div></div></div>\n<dl class=\"of-picture\">";
  for (const PageFact& fact : picture.facts)
    out() += "<div>" + element("dt", fact.words) + element("dd", fact.value) + "</div>\n";
  out() += "</dl>\n</figure>\n";
}

void PageWriter::close_pictures() { out() += "</div>\n"; }

void PageWriter::open_grid() { out() += "<div class=\"grid\">\n"; }
void PageWriter::close_grid() { out() += "</div>\n"; }
void PageWriter::open_more(std::string_view summary) {
  out() += "<details class=\"more\">\n" + element("summary", summary);
}
void PageWriter::close_more() { out() += "</details>\n"; }

std::string PageWriter::finish() {
  std::string_view html = page_html();
  std::string page(before(html, "<!--maker-->"));
  page += escape_html_name(job_);
  page += before(html, "<!--title-->");
  page += escape_html_name(title_);
  page += before(html, "<!--data-->");
  page += "<div class=\"page\">\n<header class=\"lead\">\n" + element("h1", title_) + lead_ + facts_ + "</header>\n";
  if (!contents_.empty()) {
    page += "<nav class=\"contents\" aria-label=\"Contents\"><ol>\n" + contents_ + "</ol></nav>\n";
  }
  page += "<main>\n" + std::exchange(body_, {}) + "</main>\n</div>";
  page += html;
  return page;
}

std::string page_beginning(std::string_view job) {
  std::string_view html = page_html();
  return std::string(before(html, "<!--maker-->")) + escape_html_name(job) + "\">";
}

}  // namespace millrace::report
