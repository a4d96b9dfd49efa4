// Input: the metadata in the sidecars of a scene.
// Output: a scene in which removed files pass on their metadata.
// Never: part of the program.
#pragma once

#include <string>

#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {

class Sidecars : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    fresh();
    merge_ = true;
  }
  static std::string packet(const std::string& attributes, const std::string& subjects = "") {
    std::string bag;
    for (const char word : subjects) bag += std::string("<rdf:li>") + word + "</rdf:li>";
    return "<rdf:RDF><rdf:Description " + attributes + "><dc:subject><rdf:Bag>" + bag +
           "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF>";
  }
  std::string sidecar(const std::string& picture) const { return contents(photos_ + "/" + picture + ".xmp"); }
  bool is_there(const std::string& name) const { return std::filesystem::exists(photos_ + "/" + name); }
  // Adds another copy to pair(), also to be removed.
  void add_third_copy() {
    put("c.jpg", "the picture");
    decide("1", "remove", "c.jpg");
  }
  // Expects that all files are unchanged, and that the item of b.jpg has this reason.
  void expect_left(const std::string& reason) {
    const auto before = disk();
    for (const bool execute : {false, true}) {
      const RunResult ran = run_apply("delete", execute);
      EXPECT_EQ(ran.code, 3);
      EXPECT_EQ(ran.of("b.jpg"), "left");
      EXPECT_NE(ran.of("b.jpg", "reason").find(reason), std::string::npos) << ran.of("b.jpg", "reason");
      EXPECT_EQ(disk(), before) << reason;
    }
  }
};

}  // namespace millrace::dedupe
