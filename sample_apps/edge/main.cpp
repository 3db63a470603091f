// Watches a folder, and says what is in each picture that appears there.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <vision/vision.h>

namespace fs = std::filesystem;

struct Photo {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

// A binary .ppm file with 8 bits a colour, as netpbm, GStreamer, FFmpeg and libcamera's tools write them.
std::optional<Photo> read_ppm(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  Photo photo;
  int most = 0;
  for (auto* number : {&photo.width, &photo.height, &most}) {
    if (magic.empty() && !(file >> magic)) return std::nullopt;
    while ((file >> std::ws) && file.peek() == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    if (!(file >> *number)) return std::nullopt;
  }
  constexpr int largest = 1 << 14;
  if (magic != "P6" || most != 255 || photo.width < 1 || photo.height < 1) return std::nullopt;
  if (photo.width > largest || photo.height > largest) return std::nullopt;
  file.get();
  photo.rgb.resize(static_cast<std::size_t>(photo.width) * static_cast<std::size_t>(photo.height) * 3);
  file.read(reinterpret_cast<char*>(photo.rgb.data()), static_cast<std::streamsize>(photo.rgb.size()));
  return file ? std::optional(std::move(photo)) : std::nullopt;
}

void say(vision::Classifier& model, const fs::path& path) {
  std::cout << path.filename().string() << ": ";
  const auto photo = read_ppm(path);
  if (!photo) {
    std::cout << "no whole .ppm picture" << std::endl;
    return;
  }
  const vision::Picture picture(photo->rgb.data(), photo->width, photo->height, vision::PixelFormat::rgb);
  const auto found = model.classify(picture);
  if (!found)
    std::cout << found.error().what() << std::endl;
  else
    std::cout << found.value().front().label << " " << found.value().front().score << std::endl;
}

// Whether nobody has written to a file for a second: it is whole, or never will be.
bool is_written(const fs::directory_entry& file) {
  std::error_code gone;
  const auto written = file.last_write_time(gone);
  return !gone && fs::file_time_type::clock::now() - written > std::chrono::seconds(1);
}

int main(int count, char** arguments) {
  if (count < 2 || !fs::is_directory(arguments[1])) {
    std::cerr << "usage: edge FOLDER [--once]\n";
    return 2;
  }
  vision::Options options;
  options.threads = 2;    // a board has other work
  options.arena = false;  // memory of a run goes back after it
  auto loaded = vision::Classifier::load(options);
  if (!loaded) {
    std::cerr << loaded.error().what() << "\n";
    return 1;
  }
  auto model = std::move(loaded).value();
  const bool is_once = count > 2 && std::string(arguments[2]) == "--once";
  std::set<fs::path> seen;
  do {
    std::set<fs::path> here;
    for (const auto& entry : fs::directory_iterator(arguments[1]))
      if (entry.path().extension() == ".ppm" && (is_once || is_written(entry))) here.insert(entry.path());
    for (const auto& path : here)
      if (seen.count(path) == 0) say(model, path);
    seen = std::move(here);
    if (!is_once) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  } while (!is_once);
}
