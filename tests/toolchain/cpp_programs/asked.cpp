// Asks a classifier, and prints a fact in each line. Argument: a folder with models that may be damaged.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <thread>
#include <vision/vision.h>

template <class T>
const char* code(const vision::Result<T>& result) {
  return result ? "done" : vision::name_of(result.error().code());
}

int main(int, char** arguments) {
  const std::vector<std::uint8_t> pixels(12 * 8 * 3, 200);
  vision::Options options;
  options.providers = {"CUDAExecutionProvider"};
  options.threads = 2;
  options.arena = false;
  auto model = vision::Classifier::load(options).value();
  for (const auto& each : model.info().left_out) std::cout << "left " << each.provider << ": " << each.reason << "\n";
  std::cout << "provider " << model.info().provider << "\n";

  vision::Picture gaps(pixels.data(), 8, 8, vision::PixelFormat::rgb);
  gaps.stride = 36;
  const auto whole = model.classify(vision::Picture(pixels.data(), 8, 8, vision::PixelFormat::rgb)).value();
  const auto same = model.classify(gaps).value();
  std::cout << "classes " << whole.size() << " " << model.classify(gaps, 1)->size() << "\n";
  std::cout << "same " << (whole[0].label == same[0].label && whole[0].score == same[0].score) << "\n";
  std::vector<std::thread> threads;
  for (int each = 0; each < 4; ++each) threads.emplace_back([&] { (void)model.classify(gaps).value(); });
  for (auto& each : threads) each.join();

  const auto test = model.self_test().value();
  std::cout << "tested " << test.passed() << " " << (test.outputs.size() > 0) << "\n";
  std::cout << "runs " << model.metrics().runs << " " << model.metrics().errors << "\n";
  const char* word = "picture";
  try {
    (void)model.classify(vision::Picture(pixels.data(), 0, 9)).value();
  } catch (const vision::ModelError& error) {
    word = vision::name_of(error.code());
  }
  std::cout << "bad " << word << std::endl;
  const auto child = fork();
  if (child == 0) {
    alarm(60);
    std::puts((std::string("child ") + code(model.classify(gaps))).c_str());
    std::fflush(stdout);
    model.close();  // and does not wait for threads of the parent
    _exit(0);
  }
  int ended = 1;
  waitpid(child, &ended, 0);
  std::cout << "ended " << ended << "\n";

  auto other = std::move(model);
  std::cout << "moved " << code(model.classify(gaps)) << " " << code(other.classify(gaps)) << "\n";
  other.close();
  std::cout << "closed " << code(other.classify(gaps)) << "\n";
  options = {};
  options.threads = -1;
  std::cout << "options " << code(vision::Classifier::load(options)) << "\n";
  options = {};
  options.models = arguments[1];
  std::cout << "copied " << code(vision::Classifier::load(options)) << "\n";
  const auto file = options.models / "classifier" / "classifier.onnx";
  std::ofstream(file, std::ios::app) << "more";
  std::cout << "damaged " << code(vision::Classifier::load(options)) << "\n";
  std::filesystem::remove(file);
  std::cout << "gone " << code(vision::Classifier::load(options)) << "\n";
}
