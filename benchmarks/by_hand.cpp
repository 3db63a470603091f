// The least CPU time of `classify`, and of the same steps by hand: the fastest of several, in turns, with one thread.
// Arguments: the folder of the package's models, the model as it was exported, runs. Prints a line for each size.

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <vision/vision.h>

namespace {

constexpr int side = 224;
constexpr int channels = 3;
using Bytes = std::vector<std::uint8_t>;

double cpu_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// One axis of a picture, `[outer, size, inner]`, made `side` long: a triangle as wide as the pixels that it covers.
Bytes resized(const Bytes& pixels, std::size_t outer, int size, std::size_t inner) {
  Bytes made(outer * side * inner);
  const double scale = static_cast<double>(size) / side, radius = std::max(scale, 1.0);
  std::vector<float> sums(inner);
  for (int at = 0; at < side; ++at) {
    const double centre = (at + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - radius + 0.5));
    const int last = std::min(size, static_cast<int>(centre + radius + 0.5));
    std::vector<float> weights;
    for (int each = first; each < last; ++each) {
      weights.push_back(static_cast<float>(std::max(0.0, 1.0 - std::abs((each + 0.5 - centre) / radius))));
    }
    const float total = std::accumulate(weights.begin(), weights.end(), 0.0f);
    for (auto& each : weights) each /= total;
    for (std::size_t row = 0; row < outer; ++row) {
      std::fill(sums.begin(), sums.end(), 0.5f);
      const auto* from = &pixels[(row * size + first) * inner];
      for (const float weight : weights) {
        for (std::size_t each = 0; each < inner; ++each) sums[each] += weight * from[each];
        from += inner;
      }
      auto* to = &made[(row * side + at) * inner];
      for (std::size_t each = 0; each < inner; ++each) to[each] = static_cast<std::uint8_t>(sums[each]);
    }
  }
  return made;
}

int best_by_hand(Ort::Session& session, const char* input, const char* output, const Bytes& pixels, int width, int height) {
  const auto rows = resized(pixels, static_cast<std::size_t>(height), width, channels);
  const auto small = resized(rows, 1, height, std::size_t{side} * channels);
  std::vector<float> values(small.size());
  const float mean[] = {0.485f, 0.456f, 0.406f}, deviation[] = {0.229f, 0.224f, 0.225f};
  for (int each = 0; each < side * side; ++each) {
    for (int channel = 0; channel < channels; ++channel) {
      values[static_cast<std::size_t>(channel * side * side + each)] =
          (small[static_cast<std::size_t>(each * channels + channel)] / 255.0f - mean[channel]) / deviation[channel];
    }
  }
  const std::int64_t shape[] = {1, channels, side, side};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const auto value = Ort::Value::CreateTensor<float>(memory, values.data(), values.size(), shape, 4);
  const auto found = session.Run(Ort::RunOptions(), &input, &value, 1, &output, 1);
  const auto* logits = found[0].GetTensorData<float>();
  const auto count = found[0].GetTensorTypeAndShapeInfo().GetElementCount();
  const float most = *std::max_element(logits, logits + count);
  std::vector<float> scores(count);
  for (std::size_t each = 0; each < count; ++each) scores[each] = std::exp(logits[each] - most);
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 5, order.end(),
                    [&](int left, int right) { return scores[static_cast<std::size_t>(left)] > scores[static_cast<std::size_t>(right)]; });
  return order[0];
}

}  // namespace

int main(int, char** arguments) {
  vision::Options options;
  options.models = arguments[1];
  options.threads = 1;
  auto model = vision::Classifier::load(options).value();
  Ort::Env environment(ORT_LOGGING_LEVEL_FATAL, "by hand");
  Ort::SessionOptions one;
  one.SetIntraOpNumThreads(1);
  Ort::Session session(environment, arguments[2], one);
  Ort::AllocatorWithDefaultOptions allocator;
  const auto input = session.GetInputNameAllocated(0, allocator), output = session.GetOutputNameAllocated(0, allocator);
  for (const auto& [width, height] : {std::pair(640, 480), std::pair(4032, 3024)}) {
    Bytes pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * channels);
    for (std::size_t each = 0; each < pixels.size(); ++each) pixels[each] = static_cast<std::uint8_t>(each * 2654435761u >> 13);
    const vision::Picture picture(pixels.data(), width, height, vision::PixelFormat::rgb);
    double ours = 1e9, theirs = 1e9;
    bool is_same = true;
    for (int run = 0; run < std::atoi(arguments[3]); ++run) {
      const auto start = cpu_ms();
      const auto found = model.classify(picture).value();
      const auto middle = cpu_ms();
      const auto best = best_by_hand(session, input.get(), output.get(), pixels, width, height);
      ours = std::min(ours, middle - start);
      theirs = std::min(theirs, cpu_ms() - middle);
      is_same = is_same && static_cast<int>(found[0].index) == best;
    }
    std::printf("%d x %d\t%f\t%f\t%d\n", width, height, ours, theirs, is_same);
  }
}
