#include "src/jobs/dedupe/page/duplicates_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/page/page_html.h"
#include "src/jobs/dedupe/page/page_id.h"
#include "src/jobs/dedupe/page/page_json.h"
#include "src/jobs/dedupe/page/thumbs_folder.h"
#include "src/report/html.h"

namespace millrace::dedupe {
namespace {

namespace fs = std::filesystem;

// First bytes of a page; and of pages by earlier versions without a generator tag, up to the end of their common title.
constexpr std::string_view kPageStart =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" "
    "content=\"Millrace "
    "dedupe\">\n";
constexpr std::string_view kPreviousPageStart =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
    "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta "
    "name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: file: 'self'; base-uri 'none'; "
    "form-action 'none'\">\n<title>Millrace: duplicates</title>\n";

}  // namespace

OutputKind page_kind() {
  const auto ours = [](FileReader& file) {
    const auto front = file.peek();
    const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
    return text.starts_with(kPageStart) || text.starts_with(kPreviousPageStart);
  };
  return {"a page of duplicates", ReadAccess::owner, ours};
}

class DuplicatesPage::Writer {
 public:
  Writer(const OutputTarget& output, const PageHeader& header, Bytes inline_limit)
      : path_(output.path()),
        inline_left_(output.is_stream() ? std::numeric_limits<std::uint64_t>::max() : inline_limit.count),
        file_(output),
        thumbs_(thumbs_folder(output), output.readers(), output.has_existing_file()) {
    std::error_code ignored;
    if (fs::is_directory(fs::symlink_status(path_, ignored))) {
      throw Failure(ErrorCode::conflict, "a folder already has the name of the page", path_,
                    "give the page another name");
    }
    std::string_view html = page_html();
    write_text(take_text_before(html, "<!--title-->"));
    write_text(escape_html(header.title));
    write_text(take_text_before(html, "<!--data-->"));
    rest_ = html;
    const std::string thumbs_url = url_component(file_name(path_)) + ".thumbs/";
    write_script("id=\"header\"", json_of(header, thumbs_url));
  }

  void add_group(const PageGroup& group) {
    run_guarded([&] {
      for (const PagePair& pair : group.pairs) {
        if (pair.a >= group.members.size() || pair.b >= group.members.size() || pair.a == pair.b) {
          throw Failure(ErrorCode::internal, "a pair does not name two members of its group", group.id);
        }
      }
      id_.add(group);
      write_script("class=\"group\"", json_of(group));
      // Thumbnails are in a script of their own, which the page reads only when the group comes into view.
      write_script("class=\"thumbs\"", thumbs_of(group));
    });
  }

  void finish() {
    run_guarded([&] {
      write_script("id=\"end\"", Json{{"id", id_.hex()}});
      write_text(rest_);
      // Publishes the folder first, then the page that refers to it; then removes what both replaced.
      file_.sync();
      thumbs_.publish();
      try {
        file_.commit();
      } catch (...) {
        thumbs_.roll_back();
        throw;
      }
      thumbs_.drop_replaced();
    });
    finished_ = true;
  }

 private:
  // Returns the text before the marker; `html` then starts behind it.
  static std::string_view take_text_before(std::string_view& html, std::string_view marker) {
    const std::size_t at = html.find(marker);
    if (at == std::string_view::npos) {
      throw Failure(ErrorCode::internal, "the page has no marker " + std::string(marker));
    }
    const std::string_view head = html.substr(0, at);
    html.remove_prefix(at + marker.size());
    return head;
  }

  // A page that lacks a group must never be published, whoever caught the failure.
  template <typename Work>
  void run_guarded(Work&& work) {
    if (broken_ || finished_) {
      throw Failure(ErrorCode::internal, finished_ ? "the page is already finished" : "the page has failed before",
                    path_);
    }
    broken_ = true;
    try {
      work();
    } catch (const fs::filesystem_error& error) {
      throw Failure(system_error("cannot access the folder", error.path1().string(), error.code().value()));
    }
    broken_ = false;
  }

  void write_text(std::string_view text) { file_.write(text); }

  void write_script(std::string_view attribute, const Json& value) {
    write_text(fmt::format("<script type=\"application/json\" {}>", attribute));
    write_text(script_text(value));
    write_text("</script>\n");
  }

  // Returns an entry for each member: base64, the number of a file in the folder, or null.
  Json thumbs_of(const PageGroup& group) {
    std::uint64_t bytes = 0;
    for (const PageMember& member : group.members) bytes += member.thumb.size();
    const bool fits = thumbs_.empty() && bytes <= inline_left_;
    if (fits) inline_left_ -= bytes;
    Json list = Json::array();
    for (const PageMember& member : group.members) {
      if (member.thumb.empty()) {
        list.push_back(nullptr);
      } else if (fits) {
        list.push_back(to_base64(member.thumb));
      } else {
        list.push_back(thumbs_.add(member.thumb));
      }
    }
    return list;
  }

  std::string path_;
  std::uint64_t inline_left_;
  OutputFile file_;
  ThumbsFolder thumbs_;
  std::string_view rest_;  // text of the page after its data
  PageId id_;
  bool broken_ = false;
  bool finished_ = false;
};

DuplicatesPage::DuplicatesPage(const OutputTarget& output, const PageHeader& header, Bytes inline_limit)
    : writer_(std::make_unique<Writer>(output, header, inline_limit)) {}
DuplicatesPage::~DuplicatesPage() = default;

void DuplicatesPage::verify_thumbs_folder(const OutputTarget& output) {
  if (output.is_stream()) return;
  ThumbsFolder(thumbs_folder(output), output.readers(), output.has_existing_file()).refuse_foreign_folder();
}

void DuplicatesPage::add_group(const PageGroup& group) { writer_->add_group(group); }
void DuplicatesPage::finish() { writer_->finish(); }

}  // namespace millrace::dedupe
