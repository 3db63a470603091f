// Runs the pipeline `scan` on pictures of the bytes in a file, in every orientation: a line for each item, and a header
// before those of a picture. Arguments: the folder with the models, and the file.

#include <models/models.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace models;

template <class T>
void line(const Tensor<T>& tensor) {
  for (std::size_t n = 0; n < tensor.values.size(); ++n) std::cout << (n ? " " : "") << +tensor.values[n];
}

void shown(const char* name, int turn, const Scan& scan, const Picture& picture) {
  std::cout << name << " " << turn << "\n";
  const auto items = scan.run(picture);
  if (!items) std::cout << items.error().what() << "\n";
  if (!items) return;
  for (const auto& item : *items) {
    const auto& box = item.box.box;
    std::printf("%.1f %.1f %.1f %.1f %.6f | [", box.left, box.top, box.right, box.bottom, item.box.score);
    std::fflush(stdout);
    const auto& size = item.seen.size.values;
    for (std::size_t n = 0; n < size.size(); ++n) std::cout << (n ? ", " : "") << size[n];
    std::cout << "] " << item.seen.turned.values[0] << " | ";
    line(item.seen.seen);
    std::cout << " | ";
    if (picture.chroma) line(item.seen.tint);
    else std::cout << "-";
    std::cout << " | " << (item.colour ? "" : "null") << std::flush;
    for (std::size_t n = 0; item.colour && n < item.colour->size(); ++n) std::printf("%s%.6f", n ? " " : "", (*item.colour)[n]);
    std::fflush(stdout);
    std::cout << "\n";
  }
}

int main(int, char** arguments) {
  std::ifstream file(arguments[2], std::ios::binary);
  const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
  const std::vector<std::uint8_t> bytes(read.begin(), read.end());
  Options options;
  options.models = arguments[1];
  auto opened = Scan::load(options);
  if (!opened) return std::cerr << opened.error().what() << "\n", 1;
  Scan scan = *std::move(opened);
  for (int turn = 1; turn <= 8; ++turn) {
    Picture colours(bytes.data() + 4, 5, 6, PixelFormat::rgba);
    colours.stride = 28;
    colours.orientation = turn;
    shown("colours", turn, scan, colours);
    Picture camera(bytes.data(), 8, 6, PixelFormat::nv21);
    camera.chroma = bytes.data() + 48;
    camera.orientation = turn;
    shown("camera", turn, scan, camera);
  }
  shown("many", 1, scan, Picture(bytes.data(), 1, 9));
  scan.close();
  shown("closed", 1, scan, Picture(bytes.data(), 2, 2));
}
