// Calls parts of a package's C++ that JavaScript cannot reach with what it wants: `unit COMMAND ...`.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "CompiledFolders.h"
#include "Cores.h"
#include "Failure.h"
#include "Files.h"
#include "Part.h"
#include "Protection.h"
#include "Sha256.h"
#include "Weights.h"

namespace own = mobpack::PACKAGE;

namespace {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::string>;
using Parts = std::map<std::string, own::Part>;

constexpr int refused = 3;

Bytes read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

/// `sha256 FILE PIECE`: the digest of a file that comes in pieces of so many bytes.
int sha256(const Words& words) {
  const auto bytes = read(words.at(0));
  const auto piece = std::stoul(words.at(1));
  own::Sha256 digest;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    digest.add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  }
  std::cout << digest.finish() << std::endl;
  return 0;
}

/// `weights MODEL TARGET NAME PATH OFFSET SIZE`: the model with the references to one file of weights set right.
int weights(const Words& words) {
  const own::Part part{words.at(2), words.at(3), std::stoull(words.at(4)), std::stoull(words.at(5)), "", ""};
  const auto located = own::locateWeights(read(words.at(0)), Parts{{part.name, part}});
  std::ofstream(words.at(1), std::ios::binary) << located;
  return 0;
}

bool isAccepted(const Bytes& model, const Parts& parts) {
  // Of its own size, so that a sanitizer or a guard sees a byte too many that is read.
  const auto exact = std::make_unique<std::byte[]>(model.size());
  std::copy(model.begin(), model.end(), exact.get());
  try {
    own::locateWeights({exact.get(), model.size()}, parts);
    return true;
  } catch (const own::Failure&) {
    return false;
  }
}

/// `damage MODEL NAME COUNT`: the model cut at every length, and with bytes changed at random; how many are refused.
int damage(const Words& words) {
  const auto model = read(words.at(0));
  const Parts parts{{words.at(1), {words.at(1), "/w", 16, 1 << 20, "", ""}}};
  std::size_t cut = 0;
  for (std::size_t size = 0; size < model.size(); ++size) {
    if (!isAccepted(Bytes(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(size)), parts)) ++cut;
  }
  std::mt19937 random(1);
  std::size_t changed = 0;
  for (int count = std::stoi(words.at(2)); count > 0; --count) {
    auto copy = model;
    for (int bytes = 0; bytes < 3; ++bytes) copy[random() % copy.size()] = static_cast<std::byte>(random());
    if (!isAccepted(copy, parts)) ++changed;
  }
  std::cout << cut << " " << changed << std::endl;
  return 0;
}

/// `cores SPEED...`: how many of them are big.
int cores(const Words& words) {
  std::vector<long> speeds;
  for (const auto& word : words) speeds.push_back(std::stol(word));
  std::cout << own::bigCoresOf(speeds) << std::endl;
  return 0;
}

/// `protect FOLDER`: makes files and folders, and prints those that the system is told of.
int protect(const Words& words) {
  own::setFileProtection([](const std::string& path) { std::cout << path << std::endl; });
  const auto folder = words.at(0) + "/";
  const std::vector<std::byte> bytes(1);
  for (const std::uint64_t offset : {0U, 1U}) own::writePart(folder + "new/file", offset, bytes);
  own::writePart(folder + "there", 1, bytes);
  own::replaceFile(folder + "note", bytes);
  const auto compiled = folder + "models/" + std::string(64, 'a') + "-1";
  own::makeFolder(compiled, {});
  std::ofstream(compiled + "/made") << "by Core ML";
  own::CompiledFolders({"1", compiled}).keepFilesReadable();
  return 0;
}

}  // namespace

int main(int count, char** given) {
  const std::map<std::string, int (*)(const Words&)> commands{
      {"sha256", sha256}, {"weights", weights}, {"damage", damage}, {"cores", cores}, {"protect", protect}};
  try {
    return commands.at(given[1])({given + 2, given + count});
  } catch (const own::Failure& failure) {
    std::cout << failure.what() << std::endl;
    return refused;
  }
}
