#include "src/report/json_writer.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(JsonWriter, GivesTheBytesOfATree) {
  const std::vector<std::string> words = {"", "plain", "quote \" and \\", "tab\t", "caf\xC3\xA9", "\x7F"};
  Json tree;
  std::string text;
  JsonWriter out(text);
  out.open_object();
  tree["none"] = Json::array();
  out.key("none").open_array();
  out.close_array();
  tree["nothing"] = Json::object();
  out.key("nothing").open_object();
  out.close_object();
  out.key("words").open_array();
  for (const std::string& word : words) {
    tree["words"].push_back(word);
    out.value(word);
  }
  out.close_array();
  out.key("numbers").open_object();
  for (const double number : {0.0, 1.0, 0.8312, -2.5e-7}) {
    const std::string name = "n" + std::to_string(tree["numbers"].size());
    tree["numbers"][name] = number;
    out.key(name).value(number);
  }
  tree["numbers"]["whole"] = std::uint64_t{18446744073709551615U};
  out.key("whole").value(std::uint64_t{18446744073709551615U});
  tree["numbers"]["yes"] = true;
  out.key("yes").value(true);
  out.close_object();
  tree["last"] = -7;
  out.key("last").value(-7);
  out.close_object();
  EXPECT_EQ(text, tree.dump(1));
}

}  // namespace
}  // namespace millrace
