// Asks each model what the table of benchmarks/results/contract_table.md asks, and prints `ANSWER NAME words=...` and
// `ANSWER NAME numbers=...`.
//
// Arguments: the folder with the models, the one with the cases, and the rate and length of a window of the voice.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <models/models.h>

namespace {

using Line = std::vector<std::string>;
using Numbers = std::vector<double>;
using Bytes = std::vector<std::uint8_t>;

models::Options options;
std::string folder;
int rate = 0;
std::size_t window = 0;
constexpr std::size_t block = 512;

void answer(const std::string& name, const std::string& words, const Numbers& numbers) {
  std::printf("ANSWER %s words=%s\nANSWER %s numbers=", name.c_str(), words.c_str(), name.c_str());
  for (std::size_t index = 0; index < numbers.size(); ++index) std::printf("%s%.17g", index ? " " : "", numbers[index]);
  std::printf("\n");
}

Bytes content(const std::string& name) {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

std::vector<float> samples(const std::string& name) {
  const Bytes bytes = content(name);
  std::vector<float> found(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(found.data()));
  return found;
}

std::vector<Line> lines(const std::string& name) {
  std::ifstream file(folder + "/" + name);
  std::vector<Line> found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    found.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return found;
}

// Rows as they lie in memory, with gaps between them.
models::Picture picture(const Line& line, const Bytes& bytes) {
  using models::PixelFormat;
  static const std::map<std::string, std::pair<PixelFormat, std::size_t>> formats = {
      {"RGBA", {PixelFormat::rgba, 4}}, {"BGRA", {PixelFormat::bgra, 4}}, {"ARGB", {PixelFormat::argb, 4}},
      {"RGB", {PixelFormat::rgb, 3}},   {"BGR", {PixelFormat::bgr, 3}},   {"GREY", {PixelFormat::grey, 1}},
      {"NV12", {PixelFormat::nv12, 1}}, {"NV21", {PixelFormat::nv21, 1}}, {"P010", {PixelFormat::p010, 2}}};
  const auto [format, size] = formats.at(line[2]);
  const auto number = [&](std::size_t index) { return std::stoi(line[index]); };
  const auto row_bytes = static_cast<std::size_t>(number(5));
  const int height = number(4), left = number(7), top = number(8), right = number(9), bottom = number(10);
  const auto first = static_cast<std::size_t>(top) * row_bytes + static_cast<std::size_t>(left) * size;
  models::Picture found(bytes.data() + first, right - left, bottom - top, format);
  found.stride = row_bytes;
  found.orientation = number(6);
  if (format == PixelFormat::nv12 || format == PixelFormat::nv21 || format == PixelFormat::p010) {
    found.chroma = bytes.data() + static_cast<std::size_t>(height) * row_bytes;
    found.chroma_stride = row_bytes;
    found.conversion = static_cast<models::YuvConversion>(number(11) + 1);
  }
  return found;
}

void say(const std::string& name, std::vector<models::Classification> found) {
  std::string words;
  for (std::size_t index = 0; index < 3; ++index) words += (index ? "|" : "") + found[index].label;
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) { return one.index < other.index; });
  Numbers scores;
  for (const auto& each : found) scores.push_back(each.score);
  answer(name, words, scores);
}

void say(const std::string& name, const std::vector<models::Detection>& found) {
  Numbers numbers;
  for (const auto& each : found) {
    for (const float side : {each.box.left, each.box.top, each.box.right, each.box.bottom, each.score}) numbers.push_back(side);
  }
  answer(name, std::to_string(found.size()), numbers);
}

void say(const std::string& name, const std::vector<models::Instance>& found) {
  Numbers numbers;
  for (const auto& each : found) {
    for (const float side : {each.box.left, each.box.top, each.box.right, each.box.bottom, each.score}) numbers.push_back(side);
    for (const int side : {each.mask.left, each.mask.top, each.mask.width, each.mask.height}) numbers.push_back(side);
    double pixels = 0;
    for (const auto place : each.mask.places) pixels += place;
    numbers.push_back(pixels / each.mask.width);
  }
  answer(name, std::to_string(found.size()) + " objects", numbers);
}

void say(const std::string& name, const std::vector<models::Keypoint>& found) {
  std::string words;
  Numbers numbers;
  for (const auto& each : found) {
    words += (words.empty() ? "" : ", ") + each.label;
    for (const float number : {each.x, each.y, each.score}) numbers.push_back(number);
  }
  answer(name, words, numbers);
}

void say(const std::string& name, const models::Reading& found) { answer(name, found.text, {found.score}); }

// Each 37th byte, which is of red, green, blue and alpha in turn.
void say(const std::string& name, const models::RgbaPicture& made) {
  Numbers numbers;
  for (std::size_t index = 0; index < made.pixels.size(); index += 37) numbers.push_back(made.pixels[index]);
  answer(name, std::to_string(made.width) + " x " + std::to_string(made.height) + " pixels", numbers);
}

template <class Model, class Ask>
void pictures(const std::string& wanted, Ask ask) {
  const auto model = Model::load(options).value();
  for (const auto& line : lines("cases")) {
    if (line[1] != wanted) continue;
    const Bytes bytes = content(line[0]);
    say(line[0], ask(model, picture(line, bytes)).value());
  }
}

std::string text_of(const Line& line) {
  std::string text;
  for (std::size_t index = 2; index < line.size(); ++index) {
    auto point = static_cast<std::uint32_t>(std::stoul(line[index]));
    if (point >= 0xD800 && point < 0xDC00) point = 0x10000 + ((point - 0xD800) << 10) + static_cast<std::uint32_t>(std::stoul(line[++index])) - 0xDC00;
    const auto byte = [&](std::uint32_t value) { text.push_back(static_cast<char>(value)); };
    if (point < 0x80) {
      byte(point);
      continue;
    }
    const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    byte((more == 1 ? 0xC0U : more == 2 ? 0xE0U : 0xF0U) | (point >> (6 * more)));
    for (int left = more - 1; left >= 0; --left) byte(0x80U | ((point >> (6 * left)) & 0x3FU));
  }
  return text;
}

void texts() {
  const auto meaning = models::Meaning::load(options).value();
  const auto tokens = models::Tokens::load(options).value();
  for (const auto& line : lines("texts")) {
    Numbers numbers;
    if (line[1] == "meaning") {
      for (const float each : meaning.embed(text_of(line)).value()) numbers.push_back(each);
    } else {
      for (const auto each : tokens.predict(text_of(line)).value().ids.values) numbers.push_back(static_cast<double>(each));
    }
    answer(line[0], "", numbers);
  }
}

using Stream = models::SoundStream<std::vector<models::Classification>>;
using Found = std::vector<std::pair<std::string, double>>;

Found collected(Stream& stream) {
  Found found;
  for (;;) {
    const auto next = stream.next().value();
    if (!next) return found;
    found.emplace_back(std::to_string(next->start) + "-" + std::to_string(next->end) + "+" + std::to_string(next->dropped),
                       next->result.front().score);
  }
}

models::SoundView part(const std::vector<float>& voice, std::size_t start, std::size_t end, int at, int channels = 1) {
  return models::SoundView(models::Span<float>(voice.data() + start, end - start), at, channels);
}

// A stream of a line of the file `streams`: rate, channels, and how many frames each push has.
Found pushed(const models::ListenerModel& model, const std::vector<float>& voice, const Line& line) {
  const int at = std::stoi(line[0]), channels = std::stoi(line[1]);
  auto stream = model.stream().value();
  auto reading = std::async(std::launch::async, [&] { return collected(stream); });
  std::size_t start = 0;
  for (std::size_t index = 2; index < line.size(); ++index) {
    const auto end = start + std::stoul(line[index]) * static_cast<std::size_t>(channels);
    (void)stream.push(part(voice, start, end, at, channels)).value();
    start = end;
  }
  stream.flush();
  const Found found = reading.get();
  stream.reset();
  (void)stream.push(part(voice, 0, start, at, channels)).value();
  stream.flush();
  if (collected(stream) != found) throw std::runtime_error("the stream is not as good as new");
  stream.close();
  return found;
}

// The errors, by a word of each.
std::vector<std::string> misused(const models::ListenerModel& model, const std::vector<float>& voice) {
  const auto sound = part(voice, 0, 1000, 16000);
  const std::vector<float> wrong = {0.0F, std::numeric_limits<float>::quiet_NaN()};
  const auto of = [&](int queue_ms) {
    models::StreamOptions chosen;
    chosen.queue_ms = queue_ms;
    return model.stream(chosen);
  };
  using Call = std::function<void(Stream&)>;
  const std::vector<std::pair<std::string, Call>> calls = {
      {"began", [&](Stream& stream) { (void)stream.push(part(voice, 0, 1000, 8000)).value(); }},
      {"channels", [&](Stream& stream) { (void)stream.push(part(voice, 0, 1000, 16000, 2)).value(); }},
      {"finite", [&](Stream& stream) { (void)stream.push(models::SoundView(wrong, 16000)).value(); }},
      {"full", [&](Stream& stream) { (void)stream.push(part(voice, 0, 20000, 16000)).value(); }},
      {"flushed", [&](Stream& stream) { stream.flush(), (void)stream.push(sound).value(); }},
      {"closed", [&](Stream& stream) { stream.close(), (void)stream.push(sound).value(); }},
      {"least", [&](Stream&) { (void)of(0).value(); }},
      {"takes", [&](Stream&) { (void)of(20).value().push(sound).value(); }},
  };
  std::vector<std::string> found;
  for (const auto& [word, call] : calls) {
    auto stream = of(1000).value();
    (void)stream.push(sound).value();
    try {
      call(stream);
      found.emplace_back("nothing");
    } catch (const models::ModelError& error) {
      const std::string what = error.what();
      found.push_back(what.find(word) == std::string::npos ? what : word);
    }
  }
  return found;
}

void listened(const models::ListenerModel& model, const std::vector<float>& voice) {
  std::vector<std::future<Found>> under_way;
  for (const auto& line : lines("streams")) {
    under_way.push_back(std::async(std::launch::async, [&model, &voice, line] { return pushed(model, voice, line); }));
  }
  Found found;
  for (auto& each : under_way) {
    const Found made = each.get();
    found.insert(found.end(), made.begin(), made.end());
  }
  models::StreamOptions chosen;
  chosen.queue_ms = 500;
  chosen.drop_oldest = true;
  auto stream = model.stream(chosen).value();
  for (std::size_t start = 0; start < 24000; start += 1000) (void)stream.push(part(voice, start, start + 1000, 16000)).value();
  stream.flush();
  const Found late = collected(stream);
  found.insert(found.end(), late.begin(), late.end());
  std::string words;
  Numbers scores;
  for (const auto& [range, score] : found) {
    words += range + " ";
    scores.push_back(score);
  }
  for (const auto& each : misused(model, voice)) words += each + " ";
  words.pop_back();
  answer("streamed", words, scores);
}

void sounds() {
  const auto voice = samples("voice"), noisy = samples("noisy");
  const auto listener = models::ListenerModel::load(options).value();
  Numbers scores;
  for (std::size_t start = 0; start < voice.size(); start += window) {
    scores.push_back(listener.classify(part(voice, start, start + window, rate)).value().front().score);
  }
  answer("voice", "", scores);
  listened(listener, voice);

  const auto heard = models::Tone::load(options).value().estimate(models::SoundView(voice, rate)).value();
  std::string words;
  Numbers numbers;
  for (const auto& [name, series] : heard.series) {
    words += (words.empty() ? "" : " ") + name + " " + heard.units.at(name);
    numbers.insert(numbers.end(), series.begin(), series.end());
  }
  answer("tone", words, numbers);

  const auto cleaner = models::Cleaner::load(options).value();
  Numbers cleaned;
  for (std::size_t start = 0; start < noisy.size(); start += block) {
    const auto made = cleaner.render(part(noisy, start, start + block, rate)).value();
    words = std::to_string(made.rate) + " " + std::to_string(made.channels);
    cleaned.insert(cleaned.end(), made.samples.begin(), made.samples.end());
  }
  answer("cleaned", words, cleaned);
}

}  // namespace

int main(int, char** arguments) {
  options.models = arguments[1];
  folder = arguments[2];
  rate = std::atoi(arguments[3]);
  window = static_cast<std::size_t>(std::atoi(arguments[4]));
  pictures<models::Classifier>("classifier", [](const auto& model, const auto& given) { return model.classify(given, 1000); });
  pictures<models::Finder>("finder", [](const auto& model, const auto& given) { return model.detect(given); });
  pictures<models::Poser>("poser", [](const auto& model, const auto& given) { return model.locate(given); });
  pictures<models::Spotter>("spotter", [](const auto& model, const auto& given) { return model.segment(given); });
  pictures<models::ScribeModel>("scribe", [](const auto& model, const auto& given) { return model.read(given); });
  pictures<models::Cutter>("cutter", [](const auto& model, const auto& given) { return model.render(given); });
  pictures<models::Enlarger>("enlarger", [](const auto& model, const auto& given) { return model.render(given); });
  texts();
  sounds();
}
