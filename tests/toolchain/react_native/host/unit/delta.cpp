// Applies deltas with a package's C++: `delta SOURCE OFFSET SIZE DELTA RESULT SIZE SHA256`. `delta damage COUNT SEED` and the
// same applies it with bytes changed at random, and prints how many of those were refused; `delta peak` and the same prints
// the most bytes of memory that it took.

#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "Delta.h"
#include "Failure.h"

namespace own = mobpack::PACKAGE;

namespace {

using Words = std::vector<std::string>;

constexpr int refused = 3;

void apply(const Words& words, const std::string& delta) {
  own::applyDelta(
      {words.at(0), std::stoull(words.at(1)), std::stoull(words.at(2))}, delta,
      {words.at(4), std::stoull(words.at(5)), words.at(6)});
}

bool isRefused(const Words& words, const std::string& delta) {
  try {
    apply(words, delta);
    return false;
  } catch (const own::Failure& failure) {
    if (failure.code() != own::Code::corrupted) throw;
    return true;
  }
}

int damage(int count, unsigned seed, const Words& words) {
  std::ifstream file(words.at(3), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  std::mt19937 random(seed);
  int found = 0;
  for (int time = 0; time < count; ++time) {
    auto copy = whole;
    for (unsigned byte = 0; byte <= random() % 4; ++byte) copy[random() % copy.size()] = static_cast<char>(random());
    if (random() % 8 == 0) copy.resize(random() % copy.size());
    const auto damaged = words.at(4) + ".damaged";
    std::ofstream(damaged, std::ios::binary) << copy;
    found += isRefused(words, damaged) ? 1 : 0;
  }
  std::cout << found << std::endl;
  return 0;
}

/// Of this program, so far, in bytes.
long peakBytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    long kibibytes = 0;
    if (word == "VmHWM:" && file >> kibibytes) return kibibytes * 1024;
  }
  return -1;
}

}  // namespace

int main(int count, char** given) {
  const Words words(given + 1, given + count);
  try {
    if (words.at(0) == "damage") {
      return damage(std::stoi(words.at(1)), static_cast<unsigned>(std::stoul(words.at(2))), {words.begin() + 3, words.end()});
    }
    if (words.at(0) == "peak") {
      const auto before = peakBytes();
      const Words rest(words.begin() + 1, words.end());
      apply(rest, rest.at(3));
      std::cout << peakBytes() - before << std::endl;
      return 0;
    }
    apply(words, words.at(3));
    return 0;
  } catch (const own::Failure& failure) {
    std::cout << failure.what() << std::endl;
    return refused;
  }
}
