#include "src/report/page/page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/report/page/page_html.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::uint64_t kThumbsPerFolder = 1000;

// JSON that may stand inside <script>: no '<' can begin a closing tag or a comment. '<' occurs only
// inside JSON strings, where its escape means the same.
std::string script_json(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size() + 16);
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : utf8_for_display(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// One component of a relative address. Bytes go out as they are, so a name that is not UTF-8 works
// too.
std::string url_component(std::string_view bytes) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string url;
  for (const char c : bytes) {
    if (plain.find(c) != std::string_view::npos) {
      url += c;
    } else {
      url += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return url;
}

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(utf8_for_display(value));
  return list;
}

// Empty and false fields are left out: the page reads a missing one the same, and most are.
Json json_of(const PageMember& member) {
  Json json;
  json["path"] = utf8_for_display(member.path);
  if (!member.path_base64.empty()) {
    json["path_base64"] = member.path_base64;
  } else if (!is_utf8(member.path)) {
    json["path_base64"] = base64(member.path);
  }
  json["size"] = member.size;
  json["width"] = member.width;
  json["height"] = member.height;
  json["mtime_ns"] = std::to_string(member.mtime_ns);
  if (!member.date.empty()) json["date"] = utf8_for_display(member.date);
  if (!member.camera.empty()) json["camera"] = utf8_for_display(member.camera);
  json["hash"] = utf8_for_display(member.hash);
  if (member.damaged) json["damaged"] = true;
  if (member.reference) json["reference"] = true;
  if (member.keep) json["keep"] = true;
  if (!member.why.empty()) json["why"] = utf8_for_display(member.why);
  if (!member.companions.empty()) json["companions"] = texts(member.companions);
  return json;
}

Json json_of(const PagePair& pair) {
  Json json;
  json["a"] = pair.a;
  json["b"] = pair.b;
  json["score"] = pair.score;  // NaN goes out as null
  json["distances"] = Json::object();
  for (const auto& [name, distance] : pair.distances) {
    json["distances"][utf8_for_display(name)] = distance;
  }
  return json;
}

Json json_of(const PageGroup& group) {
  Json json;
  json["id"] = utf8_for_display(group.id);
  json["kind"] = name_of(group.kind);
  json["members"] = Json::array();
  for (const PageMember& member : group.members) json["members"].push_back(json_of(member));
  json["pairs"] = Json::array();
  for (const PagePair& pair : group.pairs) json["pairs"].push_back(json_of(pair));
  return json;
}

Json json_of(const PageHeader& header, const std::string& thumbs_url) {
  Json json;
  json["title"] = utf8_for_display(header.title);
  json["folders"] = texts(header.folders);
  json["totals"] = {{"files", header.files},
                    {"pictures", header.pictures},
                    {"groups", header.groups},
                    {"reclaimable", header.reclaimable}};
  json["unreadable"] = Json::array();
  for (const PageUnreadable& one : header.unreadable) {
    json["unreadable"].push_back({{"path", utf8_for_display(one.path)}, {"reason", utf8_for_display(one.reason)}});
  }
  json["rule"] = utf8_for_display(header.rule);
  json["thumbs"] = thumbs_url;
  return json;
}

// A page's identity is which files it asks about, not how it shows them: decisions that a browser
// holds live on when only a reason, a score or a thumbnail changed.
class ContentId {
 public:
  ContentId() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_);
  }
  ~ContentId() { XXH3_freeState(state_); }
  ContentId(const ContentId&) = delete;
  ContentId& operator=(const ContentId&) = delete;

  void add(const PageGroup& group) {
    add(group.id);
    add(name_of(group.kind));
    add(std::to_string(group.members.size()));
    for (const PageMember& member : group.members) {
      add(member.path);
      add(member.path_base64);
      add(member.hash);
      add(std::to_string(member.size));
      add(std::to_string(member.mtime_ns));
    }
  }

  std::string hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  void add(std::string_view text) {
    const std::string length = std::to_string(text.size()) + ":";
    XXH3_128bits_update(state_, length.data(), length.size());
    XXH3_128bits_update(state_, text.data(), text.size());
  }

  XXH3_state_t* state_;
};

// A file that exists from its constructor and disappears with its object unless somebody renames
// it.
class NewFile {
 public:
  NewFile(std::string path, std::string subject) : path_(std::move(path)), subject_(std::move(subject)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot create the file");
  }
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot write the file");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void sync() {
    if (::fsync(descriptor_) != 0) fail("cannot write the file to the disk");
  }

  void close() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0) fail("cannot close the file");
  }

  // From here on the file stays under its name.
  void release() { path_.clear(); }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const { throw Failure(system_error(what, subject_, errno)); }

  std::string path_;
  std::string subject_;
  int descriptor_ = -1;
};

void make_folder(const std::string& path, const std::string& subject) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    throw Failure(system_error("cannot create the folder", subject, errno));
  }
}

// Syncs a folder's entries, or with `everything` all that its file system holds back: one call for
// many thousand thumbnails.
void sync_folder(const std::string& path, bool everything, const std::string& subject) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Failure(system_error("cannot open the folder", subject, errno));
  const int result = everything ? ::syncfs(descriptor) : ::fsync(descriptor);
  const int number = errno;
  ::close(descriptor);
  // Some network file systems cannot sync a folder; the rename itself is still whole or not at all.
  if (result != 0 && number != EINVAL && number != ENOTSUP) {
    throw Failure(system_error("cannot write the folder to the disk", subject, number));
  }
}

bool all_digits(std::string_view text, std::size_t at_least) {
  return text.size() >= at_least && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether a folder holds nothing but what an earlier page put there, so that it may be replaced.
bool only_thumbs(const std::string& path) {
  for (const fs::directory_entry& folder : fs::directory_iterator(path)) {
    if (!folder.is_directory() || folder.is_symlink()) return false;
    if (!all_digits(folder.path().filename().native(), 4)) return false;
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path())) {
      if (!file.is_regular_file() || file.is_symlink()) return false;
      if (file.path().extension() != ".jpg") return false;
      if (!all_digits(file.path().stem().native(), 6)) return false;
    }
  }
  return true;
}

bool exists(const std::string& path) {
  struct stat unused {};
  return ::lstat(path.c_str(), &unused) == 0;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Short whatever the page's own name is, and of this process alone.
std::string temporary_name(const std::string& folder) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}/.millrace-page-{}-{}", folder, ::getpid(), counter.fetch_add(1));
}

// "report.html" stands in ".".
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

const char* name_of(GroupKind kind) {
  switch (kind) {
    case GroupKind::identical:
      return "identical";
    case GroupKind::similar:
      return "similar";
    case GroupKind::recoloured:
      return "recoloured";
    case GroupKind::burst:
      return "burst";
    case GroupKind::related:
      return "related";
  }
  return "related";
}

class DuplicatesPage::Writer {
 public:
  Writer(std::string path, const PageHeader& header, Bytes inline_limit)
      : path_(std::move(path)),
        folder_(folder_of(path_)),
        temporary_(temporary_name(folder_)),
        inline_left_(inline_limit.count),
        file_(temporary_ + ".part", path_) {
    if (is_folder(path_)) {
      throw Failure(ErrorCode::conflict, "a folder stands where the page shall go", path_,
                    "give the page another name");
    }
    std::string_view html = page_html();
    put(before(html, "<!--title-->"));
    put(html_text(header.title));
    put(before(html, "<!--data-->"));
    rest_ = html;
    const std::string thumbs_url = url_component(file_name(path_)) + ".thumbs/";
    script("id=\"header\"", json_of(header, thumbs_url));
  }

  ~Writer() {
    if (!thumbs_part_.empty()) {
      std::error_code ignored;
      fs::remove_all(thumbs_part_, ignored);
    }
  }

  void add_group(const PageGroup& group) {
    guarded([&] {
      for (const PagePair& pair : group.pairs) {
        if (pair.a >= group.members.size() || pair.b >= group.members.size() || pair.a == pair.b) {
          throw Failure(ErrorCode::internal, "a pair does not name two members of its group", group.id);
        }
      }
      id_.add(group);
      script("class=\"group\"", json_of(group));
      // In a script of their own: the page reads them when the group comes into view, not before.
      script("class=\"thumbs\"", thumbs_of(group));
    });
  }

  void finish() {
    guarded([&] {
      script("id=\"end\"", Json{{"id", id_.hex()}});
      put(rest_);
      flush();
      file_.sync();
      file_.close();
      publish();
    });
    finished_ = true;
  }

 private:
  // What stands before the marker; `html` goes on behind it.
  static std::string_view before(std::string_view& html, std::string_view marker) {
    const std::size_t at = html.find(marker);
    if (at == std::string_view::npos) {
      throw Failure(ErrorCode::internal, "the page has no marker " + std::string(marker));
    }
    const std::string_view head = html.substr(0, at);
    html.remove_prefix(at + marker.size());
    return head;
  }

  // A page that missed a group must never come out, whoever caught the failure.
  template <typename Work>
  void guarded(Work&& work) {
    if (broken_ || finished_) {
      throw Failure(ErrorCode::internal, finished_ ? "the page is already finished" : "the page has failed before",
                    path_);
    }
    broken_ = true;
    try {
      work();
    } catch (const fs::filesystem_error& error) {
      throw Failure(system_error("cannot work on the folder", error.path1().string(), error.code().value()));
    }
    broken_ = false;
  }

  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) flush();
  }

  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

  void script(std::string_view attribute, const Json& value) {
    put(fmt::format("<script type=\"application/json\" {}>", attribute));
    put(script_json(value));
    put("</script>\n");
  }

  // One entry a member: base64, the number of a file in the folder, or null.
  Json thumbs_of(const PageGroup& group) {
    std::uint64_t bytes = 0;
    for (const PageMember& member : group.members) bytes += member.thumb.size();
    const bool fits = thumbs_part_.empty() && bytes <= inline_left_;
    if (fits) inline_left_ -= bytes;
    Json list = Json::array();
    for (const PageMember& member : group.members) {
      if (member.thumb.empty()) {
        list.push_back(nullptr);
      } else if (fits) {
        list.push_back(base64(member.thumb));
      } else {
        list.push_back(write_thumb(member.thumb));
      }
    }
    return list;
  }

  std::uint64_t write_thumb(std::string_view bytes) {
    if (thumbs_part_.empty()) {
      refuse_foreign_folder();
      const std::string folder = temporary_ + ".thumbs";
      make_folder(folder, thumbs_path());
      thumbs_part_ = folder;
    }
    const std::uint64_t number = thumbs_written_++;
    const std::string folder = fmt::format("{}/{:04}", thumbs_part_, number / kThumbsPerFolder);
    if (number % kThumbsPerFolder == 0) make_folder(folder, thumbs_path());
    NewFile file(fmt::format("{}/{:06}.jpg", folder, number), thumbs_path());
    file.write(bytes);
    file.close();
    file.release();
    return number;
  }

  std::string thumbs_path() const { return path_ + ".thumbs"; }

  void refuse_foreign_folder() const {
    const std::string folder = thumbs_path();
    if (!exists(folder) || (is_folder(folder) && only_thumbs(folder))) return;
    throw Failure(ErrorCode::conflict, "holds something else than the thumbnails of a page", folder,
                  "move it away or give the page another name");
  }

  // The folder first, then the page that refers to it, then what both replaced.
  void publish() {
    const std::string thumbs = thumbs_path();
    const std::string former = temporary_ + ".former";
    bool had_former = false;
    if (!thumbs_part_.empty()) {
      sync_folder(thumbs_part_, true, thumbs);
      refuse_foreign_folder();
      had_former = exists(thumbs);
      if (had_former) rename(thumbs, former);
      try {
        rename(thumbs_part_, thumbs);
      } catch (...) {
        if (had_former) ::rename(former.c_str(), thumbs.c_str());
        throw;
      }
    }
    try {
      rename(file_.path(), path_);
    } catch (...) {
      if (!thumbs_part_.empty()) ::rename(thumbs.c_str(), thumbs_part_.c_str());
      if (had_former) ::rename(former.c_str(), thumbs.c_str());
      throw;
    }
    file_.release();
    const bool stale = thumbs_part_.empty() && is_folder(thumbs) && only_thumbs(thumbs);
    thumbs_part_.clear();
    sync_folder(folder_, false, path_);
    std::error_code ignored;  // what is left over costs space and nothing else
    if (had_former) fs::remove_all(former, ignored);
    if (stale) fs::remove_all(thumbs, ignored);
  }

  void rename(const std::string& from, const std::string& to) const {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      throw Failure(system_error("cannot give the page its name", to, errno));
    }
  }

  std::string path_;
  std::string folder_;
  std::string temporary_;
  std::uint64_t inline_left_;
  NewFile file_;
  std::string buffer_;
  std::string_view rest_;    // of the page, behind its data
  std::string thumbs_part_;  // the folder of thumbnails under its temporary name; empty: none yet
  std::uint64_t thumbs_written_ = 0;
  ContentId id_;
  bool broken_ = false;
  bool finished_ = false;
};

DuplicatesPage::DuplicatesPage(std::string path, const PageHeader& header, Bytes inline_limit)
    : writer_(std::make_unique<Writer>(std::move(path), header, inline_limit)) {}
DuplicatesPage::~DuplicatesPage() = default;

void DuplicatesPage::add_group(const PageGroup& group) { writer_->add_group(group); }
void DuplicatesPage::finish() { writer_->finish(); }

}  // namespace millrace
