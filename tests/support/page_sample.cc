// Input: a JSON file of the report page's data model, or a number of groups to make up.
// Output: the report page, so that a browser can be tried on it without a search for duplicates.
// Never: reads a picture.
//
//   page_sample OUT.html MODEL.json [--inline-limit BYTES]
//   page_sample OUT.html --groups N [--inline-limit BYTES]
#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/page/duplicates_page.h"

namespace {

using millrace::Failure;
using millrace::dedupe::DuplicatesPage;
using millrace::dedupe::GroupKind;
using millrace::dedupe::PageGroup;
using millrace::dedupe::PageHeader;
using millrace::dedupe::PageMember;

GroupKind kind_of(const std::string& name) {
  for (const GroupKind kind : millrace::dedupe::kGroupKinds) {
    if (name == name_of(kind)) return kind;
  }
  throw Failure(millrace::ErrorCode::bad_data, "not a kind of group", name);
}

PageHeader header_of(const millrace::Json& model) {
  PageHeader header;
  header.title = model.value("title", "Duplicates");
  header.folders = model.value("folders", std::vector<std::string>{});
  const millrace::Json totals = model.value("totals", millrace::Json::object());
  header.files = totals.value("files", std::uint64_t{0});
  header.pictures = totals.value("pictures", std::uint64_t{0});
  header.groups = totals.value("groups", std::uint64_t{0});
  header.reclaimable = totals.value("reclaimable", std::uint64_t{0});
  for (const millrace::Json& one : model.value("unreadable", millrace::Json::array())) {
    header.unreadable.push_back({one.value("path", ""), one.value("reason", "")});
  }
  header.rule = model.value("rule", "");
  return header;
}

PageMember member_of(const millrace::Json& from) {
  PageMember member;
  member.path = from.value("path", "");
  member.path_base64 = from.value("path_base64", "");
  member.size = from.value("size", std::uint64_t{0});
  member.width = from.value("width", std::uint32_t{0});
  member.height = from.value("height", std::uint32_t{0});
  member.mtime_ns = std::stoll(from.value("mtime_ns", "0"));
  member.date = from.value("date", "");
  member.camera = from.value("camera", "");
  member.hash = from.value("hash", "");
  member.damaged = from.value("damaged", false);
  member.reference = from.value("reference", false);
  member.keep = from.value("keep", false);
  member.why = from.value("why", "");
  member.user_metadata_score = from.value("given", 0);
  member.exif = from.value("exif", 0);
  member.is_interchangeable = from.value("as_good", false);
  const auto place = from.value("place", std::vector<float>(member.place.size()));
  std::copy_n(place.begin(), member.place.size(), member.place.begin());
  member.companions = from.value("companions", std::vector<std::string>{});
  member.thumb = millrace::from_base64(from.value("thumb", "")).value_or("");
  return member;
}

PageGroup group_of(const millrace::Json& from) {
  PageGroup group;
  group.id = from.value("id", "");
  group.kind = kind_of(from.value("kind", ""));
  for (const millrace::Json& member : from.value("members", millrace::Json::array())) {
    group.members.push_back(member_of(member));
  }
  for (const millrace::Json& pair : from.value("pairs", millrace::Json::array())) {
    const millrace::Json score = pair.value("score", millrace::Json());
    group.pairs.push_back({pair.value("a", 0U), pair.value("b", 0U),
                           score.is_number() ? score.get<double>() : std::numeric_limits<double>::quiet_NaN(),
                           pair.value("distances", std::map<std::string, int>{})});
  }
  return group;
}

// A sky over a hill; the hue follows the seed, so that groups can be told apart.
std::string made_up_jpeg(unsigned seed, int width, int height) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 75, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<JSAMPLE> row(static_cast<std::size_t>(width) * 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int crest = height / 2 + (x * static_cast<int>(seed % 7)) % (height / 3);
      const unsigned light = static_cast<unsigned>(y < crest ? 220 - y : 60 + (x ^ y) % 40);
      JSAMPLE* pixel = &row[static_cast<std::size_t>(x) * 3];
      pixel[0] = static_cast<JSAMPLE>(light * (40 + seed * 37 % 60) / 100);
      pixel[1] = static_cast<JSAMPLE>(light * (40 + seed * 53 % 60) / 100);
      pixel[2] = static_cast<JSAMPLE>(light * (40 + seed * 71 % 60) / 100);
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&jpeg, &pointer, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string text(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  jpeg_destroy_compress(&jpeg);
  return text;
}

PageGroup made_up_group(unsigned i) {
  PageGroup group;
  group.id = "g" + std::to_string(i);
  // Mix of kinds as in real results: most groups suggest a removal.
  group.kind = i % 11 < 3 ? GroupKind::identical : millrace::dedupe::kGroupKinds[i % 11 - 2];
  const unsigned count = 2 + i % 4;
  const std::string thumb = made_up_jpeg(i, i % 3 == 1 ? 85 : 128, i % 3 == 1 ? 128 : 85);
  for (unsigned m = 0; m < count; ++m) {
    PageMember member;
    const std::string name = "IMG_" + std::to_string(1000 + i) + (m == 0 ? "" : "-" + std::to_string(m));
    member.path = "/photos/" + std::to_string(2000 + i % 25) + "/" + (m == 0 ? "" : "copies/") + name + ".jpg";
    member.size = 4'000'000 + i * 1013ULL - m * 250'000ULL;
    member.width = 4000 - 400 * m;
    member.height = 3000 - 300 * m;
    member.mtime_ns = 1'700'000'000'000'000'001 + static_cast<std::int64_t>(i) * 1'000'000'007;
    member.date = m == 0 ? "2023-11-14 22:13" : "";
    member.camera = "Sample One";
    member.hash = millrace::hex_of_bytes(
        std::vector<std::uint8_t>{static_cast<std::uint8_t>(i >> 16), static_cast<std::uint8_t>(i >> 8),
                                  static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(m)});
    member.keep = m == 0;
    member.why = m == 0 ? "most pixels, has its capture date" : "";
    member.thumb = thumb;
    group.members.push_back(member);
    if (m > 0 && group.kind != GroupKind::identical) {
      group.pairs.push_back({0, m, 1 - 0.01 * m, {{"dhash", static_cast<int>(m)}, {"phash", 2}}});
    }
  }
  return group;
}

int run(const std::vector<std::string>& arguments) {
  std::string out;
  std::string model_path;
  unsigned long groups = 0;
  millrace::Bytes limit = DuplicatesPage::kInlineLimit;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool more = i + 1 < arguments.size();
    if (arguments[i] == "--groups" && more) {
      groups = std::stoul(arguments[++i]);
    } else if (arguments[i] == "--inline-limit" && more) {
      limit.count = std::stoull(arguments[++i]);
    } else {
      (out.empty() ? out : model_path) = arguments[i];
    }
  }
  if (out.empty() || (model_path.empty() && groups == 0)) {
    std::cerr << "page_sample OUT.html (MODEL.json | --groups N) [--inline-limit BYTES]\n";
    return 2;
  }
  if (!model_path.empty()) {
    std::ifstream file(model_path);
    const millrace::Json model = millrace::Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
    DuplicatesPage page(millrace::OutputTarget::overwrite_any_file(out),
                        header_of(model.value("header", millrace::Json::object())), limit);
    for (const millrace::Json& group : model.value("groups", millrace::Json::array())) page.add_group(group_of(group));
    page.finish();
    return 0;
  }
  PageHeader header;
  header.title = "Made-up duplicates";
  header.folders = {"/photos"};
  header.files = groups * 9;
  header.pictures = groups * 8;
  header.groups = groups;
  header.rule = "Pictures that were made up for a test.";
  DuplicatesPage page(millrace::OutputTarget::overwrite_any_file(out), header, limit);
  for (unsigned i = 0; i < groups; ++i) page.add_group(made_up_group(i));
  page.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
