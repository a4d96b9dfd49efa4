#include "src/io/image/metadata/editing_software.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Software, ProgramsThatEdit) {
  for (const char* name : {"Adobe Photoshop CS6 (Windows)",
                           "Adobe Photoshop Lightroom Classic 12.3 (Macintosh)",
                           "Adobe Lightroom 6.1",
                           "GIMP 2.10.34",
                           "darktable 4.2.0",
                           "RawTherapee 5.9",
                           "Capture One 22 Macintosh",
                           "Snapseed 2.0",
                           "PicsArt",
                           "Affinity Photo 1.10.6",
                           "Picasa",
                           "picasa 3.0",
                           "Instagram",
                           "ImageMagick 6.9",
                           "Paint.NET v3.5.11",
                           "Paint.NET 5.0.3",
                           "Pixelmator Pro 3.3",
                           "ACDSee Pro 8",
                           "ACD Systems Digital Imaging",
                           "digiKam-7.9.0",
                           "Google",
                           "Photos 5.0",
                           "Digital Photo Professional",
                           "Nikon Capture NX 2",
                           "ON1 Photo RAW 2023",
                           "VSCO",
                           "CREATOR: gd-jpeg v1.0 (using IJG JPEG v62), quality = 90",
                           "Lavc58.54.100",
                           "File written by Adobe Photoshop\xA8 4.0"}) {
    EXPECT_TRUE(is_editor_name(name)) << name;
  }
}

TEST(Software, FirmwareAndProgramsThatOnlyWriteTexts) {
  for (const char* name : {"",
                           " ",
                           "14.4.2",
                           "Ver.1.00",
                           "Version1.0",
                           "VERSION1.0 version1",
                           "HDR+ 1.0.345618096zd",
                           "E5700v1.1",
                           "Digital Camera FinePix S5000 Ver2.00",
                           "ILCE-7M3 v3.10",
                           "A515FXXU4CUG1",
                           "JNY-LX1 10.1.0.150(C432E7R2P1)",
                           "Windows Phone 8.1",
                           "MediaTek Camera Application",
                           "Google Pixel 6",
                           "Photos",
                           "Aperio",
                           "Firmware Version 1.1.4",
                           "ExifTool 12.40",
                           "Adobe Bridge 2022 (Windows)",
                           "Photo Mechanic 6",
                           "MeituM8",
                           "K-5 Ver 1.16",
                           "SLT-A77V v1.07",
                           "Nokia Lumia 1020",
                           "Canon EOS 5D Mark III Ver.1.3.5",
                           "COOLPIX P900V1.3",
                           "vscope",
                           "advsco"}) {
    EXPECT_FALSE(is_editor_name(name)) << name;
  }
}

TEST(Software, DefaultDescriptions) {
  for (const char* text :
       {"", "   ", "OLYMPUS DIGITAL CAMERA         ", "SONY DSC", "KONICA MINOLTA DIGITAL CAMERA", "DCIM\\100MEDIA",
        "...", "cof", "oznor", "{\"sceneType\":1}", "filter: 0; fileterIntensity: 0.0;", "METADATA-START",
        "Created with GIMP", "Screenshot", "Exif_JPEG_PICTURE"}) {
    const bool folder = std::string_view(text).starts_with("DCIM\\");
    EXPECT_EQ(is_default_description(text), !folder) << text;
  }
  for (const char* text : {"Grandma's last photo", "7", "\xE6\xB5\xB7", "cofee", "A digital camera on a table"}) {
    EXPECT_FALSE(is_default_description(text)) << text;
  }
}

}  // namespace
}  // namespace millrace
