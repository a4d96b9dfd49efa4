#include "src/io/image/metadata/xmp.h"

#include <gmock/gmock.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/image/metadata/xml_tokens.h"

namespace millrace {
namespace {

XmpFacts of_elements(std::string_view elements) { return read_xmp(test_xmp("", elements)); }

TEST(Xmp, ReadsAttributesAndElements) {
  for (const std::string& packet :
       {test_xmp("xmp:Rating=\"5\" xmp:Label='Red' xmp:CreatorTool=\"A &amp; B &#x31;\" aux:SerialNumber=\"77\"", ""),
        test_xmp("",
                 "<xmp:Rating>5</xmp:Rating><xmp:Label>\n Red </xmp:Label>"
                 "<xmp:CreatorTool>A <!-- x --><![CDATA[&]]></xmp:CreatorTool>"
                 "<xmp:CreatorTool>A &amp; B &#49;</xmp:CreatorTool><aux:SerialNumber>77</aux:SerialNumber>"),
        test_xmp(
            "xap:Rating = \"5\"\n xap:Label=\"Red\" xap:CreatorTool=\"A &amp; B 1\" exifEX:BodySerialNumber=\"77\"",
            "")}) {
    const XmpFacts facts = read_xmp(packet);
    EXPECT_EQ(facts.rating, 5) << packet;
    EXPECT_TRUE(facts.colour_label);
    EXPECT_EQ(facts.creator_tool, "A & B 1");
    EXPECT_EQ(facts.serial, "77");
    EXPECT_FALSE(facts.edited || facts.developed || facts.title || facts.description || facts.gps);
  }
}

TEST(Xmp, Ratings) {
  for (const auto& [text, rating] :
       std::vector<std::pair<std::string, std::optional<int>>>{{"0", 0},
                                                               {" 3 ", 3},
                                                               {"-1", -1},
                                                               {"4.0", 4},
                                                               {"5.", 5},
                                                               {"4.5", std::nullopt},
                                                               {"6", std::nullopt},
                                                               {"-2", std::nullopt},
                                                               {"", std::nullopt},
                                                               {"five", std::nullopt},
                                                               {"99999999999", std::nullopt},
                                                               {"1x", std::nullopt}}) {
    EXPECT_EQ(parse_rating(text), rating) << text;
  }
}

TEST(Xmp, CountsTheLongestList) {
  const XmpFacts facts = of_elements(
      "<dc:subject><rdf:Bag><rdf:li>cat</rdf:li><rdf:li>dog</rdf:li><rdf:li> </rdf:li></rdf:Bag></dc:subject>"
      "<lr:hierarchicalSubject><rdf:Bag><rdf:li>a|cat</rdf:li><rdf:li>a|dog</rdf:li><rdf:li>a</rdf:li></rdf:Bag>"
      "</lr:hierarchicalSubject><digiKam:TagsList><rdf:Seq><rdf:li>a</rdf:li></rdf:Seq></digiKam:TagsList>"
      "<Iptc4xmpExt:PersonInImage><rdf:Bag><rdf:li>Ada</rdf:li><rdf:li>Bea</rdf:li></rdf:Bag>"
      "</Iptc4xmpExt:PersonInImage>");
  EXPECT_EQ(facts.keywords, 3U);
  EXPECT_EQ(facts.people, 2U);
}

TEST(Xmp, CountsRegionsWithPersonsNames) {
  // Regions as Lightroom, digiKam and Microsoft's programs write them.
  EXPECT_EQ(of_elements("<mwg-rs:Regions rdf:parseType=\"Resource\"><mwg-rs:AppliedToDimensions stDim:w=\"1\"/>"
                        "<mwg-rs:RegionList><rdf:Bag>"
                        "<rdf:li><rdf:Description mwg-rs:Rotation=\"0\" mwg-rs:Name=\"Ada\" mwg-rs:Type=\"Face\">"
                        "<mwg-rs:Area stArea:h=\"1\"/></rdf:Description></rdf:li>"
                        "<rdf:li><rdf:Description mwg-rs:Type=\"Face\"/></rdf:li>"
                        "<rdf:li><rdf:Description mwg-rs:Name=\"Rex\" mwg-rs:Type=\"Pet\"/></rdf:li>"
                        "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>")
                .people,
            1U);
  EXPECT_EQ(
      of_elements("<mwg-rs:Regions><rdf:Description><mwg-rs:RegionList><rdf:Bag>"
                  "<rdf:li rdf:parseType=\"Resource\"><mwg-rs:Name>Ada</mwg-rs:Name></rdf:li>"
                  "<rdf:li rdf:parseType=\"Resource\"><mwg-rs:Type>Face</mwg-rs:Type><mwg-rs:Name>Bea</mwg-rs:Name>"
                  "</rdf:li><rdf:li mwg-rs:Name=\" \"/></rdf:Bag></mwg-rs:RegionList></rdf:Description>"
                  "</mwg-rs:Regions>")
          .people,
      2U);
  EXPECT_EQ(
      of_elements("<MP:RegionInfo><rdf:Description><MPRI:Regions><rdf:Bag>"
                  "<rdf:li><rdf:Description MPReg:PersonDisplayName=\"Ada\" MPReg:Rectangle=\"0,0,1,1\"/></rdf:li>"
                  "<rdf:li MPReg:PersonDisplayName=\"Bea\"/><rdf:li MPReg:Rectangle=\"0,0,1,1\"/>"
                  "</rdf:Bag></MPRI:Regions></rdf:Description></MP:RegionInfo>")
          .people,
      2U);
}

TEST(Xmp, TitlesAndDescriptionsByPeople) {
  const auto title = [](std::string_view text) {
    return of_elements("<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">" + std::string(text) +
                       "</rdf:li></rdf:Alt></dc:title>")
        .title;
  };
  EXPECT_TRUE(title("The last photo of grandma"));
  EXPECT_TRUE(of_elements("<dc:title>plain</dc:title>").title);
  EXPECT_FALSE(title(" \n"));
  EXPECT_FALSE(title("&#xA; &#32;"));
  EXPECT_FALSE(title(""));
  const auto description = [](std::string_view text) {
    return of_elements("<dc:description><rdf:Alt><rdf:li>" + std::string(text) + "</rdf:li></rdf:Alt></dc:description>")
        .description;
  };
  EXPECT_TRUE(description("\xE6\xB5\xB7"));
  EXPECT_FALSE(description("OLYMPUS DIGITAL CAMERA         "));
}

TEST(Xmp, SettingsThatAreNotInThePixels) {
  EXPECT_TRUE(
      read_xmp(test_xmp("crs:Version=\"15\" crs:HasSettings=\"True\" crs:Exposure2012=\"+0.50\"", "")).developed);
  EXPECT_TRUE(of_elements("<crs:ToneCurve><rdf:Seq><rdf:li>0, 0</rdf:li></rdf:Seq></crs:ToneCurve>").developed);
  EXPECT_FALSE(
      read_xmp(test_xmp("crs:RawFileName=\"a.cr2\" crs:Version=\"15\" crs:HasSettings=\"False\"", "")).developed);
  EXPECT_FALSE(read_xmp(test_xmp("crs:RawFileName=\"a.cr2\"", "")).developed);
  const XmpFacts applied = read_xmp(test_xmp("crs:Exposure2012=\"1\" crs:AlreadyApplied=\"True\"", ""));
  EXPECT_FALSE(applied.developed);
  EXPECT_TRUE(applied.edited);
  EXPECT_TRUE(of_elements("<darktable:history><rdf:Seq><rdf:li darktable:operation=\"exposure\"/></rdf:Seq>"
                          "</darktable:history>")
                  .developed);
  EXPECT_FALSE(of_elements("<darktable:history><rdf:Seq/></darktable:history>").developed);
}

TEST(Xmp, TheHistoryOfThePixelsAndOfTheTexts) {
  const auto edited = [](std::string_view event) {
    return of_elements("<xmpMM:History><rdf:Seq>" + std::string(event) + "</rdf:Seq></xmpMM:History>").edited;
  };
  EXPECT_TRUE(
      edited("<rdf:li stEvt:action=\"saved\" stEvt:softwareAgent=\"Adobe Photoshop CC\" stEvt:changed=\"/\"/>"));
  EXPECT_TRUE(
      edited("<rdf:li rdf:parseType=\"Resource\"><stEvt:softwareAgent>Adobe Photoshop Lightroom"
             "</stEvt:softwareAgent></rdf:li>"));
  EXPECT_FALSE(
      edited("<rdf:li stEvt:action=\"saved\" stEvt:softwareAgent=\"Adobe Photoshop Lightroom Classic 10.0\" "
             "stEvt:changed=\"/metadata\"/>"));
  EXPECT_FALSE(edited("<rdf:li stEvt:action=\"saved\" stEvt:softwareAgent=\"Ver.1.00\"/>"));
}

TEST(Xmp, FactsAboutARegionAreNotThePictures) {
  const XmpFacts facts = of_elements(
      "<xmpMM:Pantry><rdf:Bag><rdf:li><rdf:Description xmp:Rating=\"5\" xmp:Label=\"Red\"><dc:subject><rdf:Bag>"
      "<rdf:li>cat</rdf:li></rdf:Bag></dc:subject><dc:title>x</dc:title></rdf:Description></rdf:li></rdf:Bag>"
      "</xmpMM:Pantry>");
  EXPECT_EQ(facts.rating, std::nullopt);
  EXPECT_EQ(facts.keywords, 0U);
  EXPECT_FALSE(facts.colour_label || facts.title);
}

TEST(Xmp, PlaceNeedsBothSides) {
  EXPECT_TRUE(read_xmp(test_xmp("exif:GPSLatitude=\"48,8.1N\" exif:GPSLongitude=\"11,34.2E\"", "")).gps);
  EXPECT_FALSE(read_xmp(test_xmp("exif:GPSLatitude=\"48,8.1N\"", "")).gps);
}

TEST(Xmp, NeverFails) {
  const std::string whole =
      test_xmp("xmp:Rating=\"5\" b='>'",
               "<dc:subject><rdf:Bag><rdf:li>cat</rdf:li></rdf:Bag></dc:subject><!-- c --><?p?>"
               "<![CDATA[<x>]]><xmpMM:History><rdf:Seq><rdf:li stEvt:softwareAgent=\"GIMP\"/></rdf:Seq>"
               "</xmpMM:History><mwg-rs:Regions/>");
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    (void)read_xmp({exact.data(), exact.size()});
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'<', '>', '"', '/', '&', '\0'}) {
      std::string broken = whole;
      broken[i] = c;
      (void)read_xmp(broken);
    }
  }
}

TEST(Xmp, TimeGrowsWithTheBytesAlone) {
  const auto many = [](std::string_view piece) {
    std::string out;
    while (out.size() < (1U << 20)) out += piece;
    return out;
  };
  for (const char* piece :
       {"<a>", "</a>", "<a b=\"", "<!--", "<![CDATA[", "&#", "<a/> ", "<rdf:RDF><b c='", "<?", "<!"}) {
    (void)read_xmp(many(piece));
    (void)read_xmp(test_xmp("", many(piece)));
    (void)read_xmp(test_xmp(many("a=\"b\""), "<dc:title>" + std::string(1 << 20, ' ') + many("<a/> ")));
  }
  EXPECT_EQ(of_elements(many("<dc:title>") + "</dc:title>").title, false);
}

TEST(XmlTokens, TextWithItsEntities) {
  EXPECT_EQ(decode_xml_text("a&lt;b&gt;&amp;&quot;&apos;"), "a<b>&\"'");
  EXPECT_EQ(decode_xml_text("&#65;&#x42;&#x263A;&unknown;&;&#;&#x;& &#999999999999;&amp"),
            "AB\xE2\x98\xBA&unknown;&;&#;&#x;& &#999999999999;&amp");
  EXPECT_EQ(decode_xml_text("&#233;&#x1F600;&#0;&#xD800;&#x110000;"), "\xC3\xA9\xF0\x9F\x98\x80&#0;&#xD800;&#x110000;");
}

TEST(Xmp, TextAroundCommentsAndLiteralParts) {
  EXPECT_EQ(of_elements("<dc:title>Anna<!-- c -->and Bert</dc:title>").words.title, "Annaand Bert");
  EXPECT_EQ(of_elements("<dc:title>Anna <![CDATA[& <Bert>]]> and Carl</dc:title>").words.title,
            "Anna & <Bert> and Carl");
  EXPECT_EQ(of_elements("<dc:title>&amp;lt;</dc:title>").words.title, "&lt;") << "once";
}

TEST(Xmp, ValuesWithQualifiers) {
  EXPECT_EQ(of_elements("<xmp:Rating><rdf:value>5</rdf:value></xmp:Rating>").rating, 5);
  EXPECT_EQ(of_elements("<xmp:Rating rdf:parseType='Resource'>\n <rdf:value>4</rdf:value><a:by>me</a:by></xmp:Rating>")
                .rating,
            4);
  EXPECT_THAT(of_elements("<dc:subject><rdf:Bag><rdf:li rdf:parseType='Resource'><rdf:value>cat</rdf:value>"
                          "<a:by>me</a:by></rdf:li><rdf:li>dog</rdf:li></rdf:Bag></dc:subject>")
                  .words.subjects,
              testing::ElementsAre("cat", "dog"));
}

TEST(Xmp, NamesAreResolvedByTheirNamespaces) {
  const std::string rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", xmp = "http://ns.adobe.com/xap/1.0/";
  const auto rating = [&](const std::string& text) { return read_xmp(text).rating.value_or(0); };
  EXPECT_EQ(rating("<r:RDF xmlns:r='" + rdf + "'><r:Description xmlns:x1='" + xmp + "' x1:Rating='5'/></r:RDF>"), 5);
  EXPECT_EQ(rating("<RDF xmlns='" + rdf + "'><Description xmlns:x1='" + xmp +
                   "'><x1:Rating>4</x1:Rating></Description></RDF>"),
            4);
  // A declaration is valid in its element only; and a usual prefix may be declared inside an unusual one.
  EXPECT_EQ(rating("<rdf:RDF><rdf:Description><a:b xmlns:x1='" + xmp +
                   "'/><x1:Rating>3</x1:Rating></rdf:Description></rdf:RDF>"),
            0);
  EXPECT_EQ(rating("<rdf:RDF xmlns:xmp='http://elsewhere/'><rdf:Description xmlns:dc='" + xmp +
                   "'><dc:Rating>2</dc:Rating></rdf:Description></rdf:RDF>"),
            2);
  EXPECT_EQ(read_xmp("<rdf:RDF><rdf:Description dc:title='t'/></rdf:RDF>").words.title, "t") << "nothing declared";
}

TEST(Xmp, ValuesAndListsInTheirOtherForms) {
  EXPECT_EQ(of_elements("<xmp:Rating rdf:value='5' a:by='me'/>").rating, 5);
  EXPECT_EQ(of_elements("<xmp:Rating><rdf:Description><rdf:value>4</rdf:value></rdf:Description></xmp:Rating>").rating,
            4);
  EXPECT_THAT(
      of_elements("<dc:subject><rdf:Bag><rdf:li rdf:value='Anna'/><rdf:_2>Bert</rdf:_2><rdf:li><rdf:Description>"
                  "<rdf:value>Carl</rdf:value></rdf:Description></rdf:li></rdf:Bag></dc:subject>")
          .words.subjects,
      testing::ElementsAre("Anna", "Bert", "Carl"));
}

TEST(Xmp, UnparsedValuesAreReported) {
  for (const char* rating : {"4.5", "+5", "5/5", "6", "many"})
    EXPECT_TRUE(
        read_xmp("<rdf:RDF><rdf:Description xmp:Rating='" + std::string(rating) + "'/></rdf:RDF>").words.unparsed)
        << rating;
  EXPECT_TRUE(of_elements("<dc:title>A&nbsp;B</dc:title>").words.unparsed);
  for (const char* title : {"A&amp;B", "A & B", "A&#233;B", "A&B", "A &;B"})
    EXPECT_FALSE(of_elements("<dc:title>" + std::string(title) + "</dc:title>").words.unparsed) << title;
}

TEST(Xmp, TruncationAndDoctypesAreReported) {
  const std::string whole = "<rdf:RDF><rdf:Description xmp:Rating='3'></rdf:Description></rdf:RDF>";
  EXPECT_FALSE(read_xmp(whole).words.unparsed);
  EXPECT_TRUE(read_xmp(whole.substr(0, whole.size() - 3)).words.unparsed);
  EXPECT_TRUE(read_xmp(whole.substr(0, 50)).words.unparsed);
  EXPECT_TRUE(read_xmp("<!DOCTYPE x [<!ENTITY n 'Anna'>]>" + whole).words.unparsed);
  EXPECT_TRUE(read_xmp(whole + whole.substr(0, 50)).words.unparsed) << "a second one";
  EXPECT_FALSE(read_xmp("no packet").words.unparsed);
}

}  // namespace
}  // namespace millrace
