// BMP by gdk-pixbuf: palettes, run lengths, 16, 24 and 32 bits; alpha dropped.
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <unistd.h>

#include <memory>

#include "src/base/error.h"
#include "src/io/image/helper/decoder.h"

namespace millrace::helper {

namespace {

// The sides out of the header, before gdk-pixbuf allocates by them; false when there is no header.
bool read_sides(int fd, std::int64_t& width, std::int64_t& height) {
  std::uint8_t head[26];
  if (::pread(fd, head, sizeof(head), 0) != static_cast<ssize_t>(sizeof(head))) return false;
  const auto word = [&](std::size_t at) { return static_cast<std::uint32_t>(head[at] | head[at + 1] << 8); };
  const auto number = [&](std::size_t at) { return static_cast<std::int32_t>(word(at) | word(at + 2) << 16); };
  const bool old = number(14) == 12;
  width = old ? static_cast<std::int64_t>(word(18)) : std::int64_t{number(18)};
  height = old ? static_cast<std::int64_t>(word(20)) : std::abs(std::int64_t{number(22)});
  return width > 0 && height > 0 && height <= INT32_MAX;
}

}  // namespace

// gdk-pixbuf opens its loaders when they are asked for.
void load_bmp() {
  if (GdkPixbufLoader* loader = gdk_pixbuf_loader_new_with_type("bmp", nullptr)) {
    gdk_pixbuf_loader_close(loader, nullptr);
    g_object_unref(loader);
  }
}

void decode_bmp(const Job& job, Channel& channel) {
  std::int64_t width = 0, height = 0;
  if (!read_sides(job.fd, width, height))
    return channel.fail(static_cast<int>(ErrorCode::bad_data), "not a BMP with pixels");
  const std::uint64_t memory = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * 4 + (1U << 20);
  if (!channel.prepare(static_cast<int>(width), static_cast<int>(height), memory)) return;
  GError* error = nullptr;
  const std::unique_ptr<GdkPixbufLoader, void (*)(void*)> loader(gdk_pixbuf_loader_new_with_type("bmp", &error),
                                                                 g_object_unref);
  bool good = loader != nullptr;
  std::vector<std::uint8_t> chunk(1 << 18);
  while (good) {
    const ssize_t n = ::read(job.fd, chunk.data(), chunk.size());
    if (n <= 0) break;
    good = gdk_pixbuf_loader_write(loader.get(), chunk.data(), static_cast<gsize>(n), &error) != FALSE;
  }
  GError* close_error = nullptr;
  const bool closed = loader != nullptr && gdk_pixbuf_loader_close(loader.get(), &close_error) != FALSE;
  GdkPixbuf* picture = loader != nullptr ? gdk_pixbuf_loader_get_pixbuf(loader.get()) : nullptr;
  const GError* reason = error != nullptr ? error : close_error;
  if (!good || !closed || picture == nullptr) {
    channel.fail(static_cast<int>(ErrorCode::bad_data), reason != nullptr ? reason->message : "not a BMP");
  } else {
    Message about{};
    about.width = about.full_width = gdk_pixbuf_get_width(picture);
    about.height = about.full_height = gdk_pixbuf_get_height(picture);
    about.channels = 3;
    about.exact = 1;
    about.decoder_memory = memory;
    if (channel.begin(about)) {
      const bool sent = send_plane(channel, gdk_pixbuf_read_pixels(picture),
                                   static_cast<std::size_t>(gdk_pixbuf_get_rowstride(picture)), about.width,
                                   about.height, 3, gdk_pixbuf_get_n_channels(picture));
      channel.end(!sent, sent ? "" : "cancelled", gdk_pixbuf_get_has_alpha(picture) != FALSE);
    }
  }
  g_clear_error(&error);
  g_clear_error(&close_error);
}

}  // namespace millrace::helper
