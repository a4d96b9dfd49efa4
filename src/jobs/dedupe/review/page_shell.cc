#include "src/jobs/dedupe/review/page_shell.h"

#include <fmt/format.h>

#include "src/base/error.h"
#include "src/jobs/dedupe/page/page_html.h"
#include "src/jobs/dedupe/page/page_json.h"
#include "src/jobs/dedupe/page/previews.h"
#include "src/report/html.h"

namespace millrace::dedupe {
namespace {

// Fetches the data with the token from the address, and starts the page's program. The key is stored for this tab only,
// since a cookie is sent to every port of a host.
constexpr std::string_view kStart = R"JS(
(async () => {
  const nonce = document.currentScript.nonce;
  const token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  const stop = (text) => {
    const note = document.getElementById('nothing');
    note.textContent = text;
    note.hidden = false;
  };
  try {
    if (token) {
      const entered = await fetch('/enter', {method: 'POST', body: token});
      if (entered.ok) sessionStorage.setItem('millrace-key', (await entered.json()).key);
    }
    const key = sessionStorage.getItem('millrace-key');
    const answer = key && await fetch('/data', {headers: {'X-Millrace-Key': key}});
    if (!answer || !answer.ok) {
      stop('This address opens a review once, in one tab. Return to that tab, or run millrace dedupe review again.');
      return;
    }
    const lines = (await answer.text()).split('\n');
    const parts = document.createDocumentFragment();
    const part = (name, value, text) => {
      const element = document.createElement('script');
      element.type = 'application/json';
      element[name] = value;
      element.textContent = text;
      parts.append(element);
    };
    part('id', 'header', lines[0]);
    part('id', 'end', lines[1]);
    for (let i = 2; i + 1 < lines.length; i += 2) {
      part('className', 'group', lines[i]);
      part('className', 'thumbs', lines[i + 1]);
    }
    document.body.append(parts);
    const program = document.createElement('script');
    program.nonce = nonce;
    program.src = '/page.js';
    document.body.append(program);
  } catch (error) {
    stop('The review has ended: run millrace dedupe review again.');
  }
})();
)JS";

[[noreturn]] void throw_missing_marker(std::string_view marker) {
  throw Failure(ErrorCode::internal, "the page has no " + std::string(marker));
}

// Returns the position of a marker.
std::size_t find_marker(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) throw_missing_marker(marker);
  return at;
}

constexpr std::string_view kProgram = "<script>\n'use strict';";

}  // namespace

std::string shell_html(const std::string& nonce) {
  std::string_view html = page_html();
  std::string out;
  const auto copy_up_to = [&](std::string_view marker) {
    const std::size_t at = find_marker(html, marker);
    out += html.substr(0, at);
    html.remove_prefix(at + marker.size());
  };
  // The answer brings its own policy, so that of the page is removed.
  copy_up_to("<meta http-equiv=\"Content-Security-Policy\"");
  html.remove_prefix(find_marker(html, ">") + 1);
  copy_up_to("<!--title-->");
  out += "Millrace: duplicates";
  copy_up_to("<style>");
  out += fmt::format("<style nonce=\"{}\">", nonce);
  copy_up_to("<!--data-->");
  out += fmt::format("<script nonce=\"{}\">{}</script>\n</body>\n</html>\n", nonce, kStart);
  return out;
}

std::string shell_policy(const std::string& nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src blob: data:; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce);
}

std::string_view shell_script() {
  constexpr std::string_view kTag = "<script>";
  const std::string_view html = page_html();
  const std::size_t at = find_marker(html, kProgram) + kTag.size();
  const std::size_t end = html.find("</script>", at);
  if (end == std::string_view::npos) throw_missing_marker("end of its program");
  return html.substr(at, end - at);
}

std::string format_data_lines(const SavedSearch& found, const ReviewPageData& served) {
  Json header = json_of(found.header, "");
  Json runs = Json::array();
  for (const auto& [number, files] : served.runs) runs.push_back(Json::array({number, files}));
  header["served"] = {{"action", served.action}, {"words", served.words}, {"merge", served.merge_metadata},
                      {"gone", served.gone},     {"visit", served.visit}, {"runs", std::move(runs)}};
  header["preview"] = kPreviewSide;
  const auto line = [](const Json& json) { return json.dump() + "\n"; };
  Json end{{"id", found.page_id}};
  if (!served.marks.empty()) end["marks"] = served.marks;
  std::string out = line(header) + line(end);
  for (std::size_t g = 0; g < found.groups.size(); ++g) out += line(json_of(found.groups[g])) + line(found.ids[g]);
  return out;
}

}  // namespace millrace::dedupe
