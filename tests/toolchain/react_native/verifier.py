"""OpenSSL in the place of Apple's Security framework: a program on Linux verifies signatures with it."""

import re
from pathlib import Path

VERIFIER = """\
#include <dlfcn.h>

#include <string>
#include <vector>

#include "Signatures.h"

namespace own = mobpack::NAMESPACE;

namespace {

using Bytes = std::vector<unsigned char>;

Bytes bytesOf(const std::string& base64) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char digit : base64) {
    if (digit == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(digit));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<unsigned char>(bits >> count));
  }
  return bytes;
}

template <typename Function>
Function* function(const char* name) {
  static void* library = dlopen("libcrypto.so.3", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

bool isSigned(const std::string& key, const std::string& message, const std::string& signature) {
  const auto spki = bytesOf(key), content = bytesOf(message), der = bytesOf(signature);
  const unsigned char* start = spki.data();
  void* made = function<void*(void*, const unsigned char**, long)>("d2i_PUBKEY")(
      nullptr, &start, static_cast<long>(spki.size()));
  void* context = function<void*()>("EVP_MD_CTX_new")();
  const void* sha256 = function<const void*()>("EVP_sha256")();
  function<int(void*, void*, const void*, void*, void*)>("EVP_DigestVerifyInit")(
      context, nullptr, sha256, nullptr, made);
  const int is_right = function<int(void*, const unsigned char*, unsigned long, const unsigned char*, unsigned long)>(
      "EVP_DigestVerify")(context, der.data(), der.size(), content.data(), content.size());
  function<void(void*)>("EVP_MD_CTX_free")(context);
  function<void(void*)>("EVP_PKEY_free")(made);
  return is_right == 1;
}

[[maybe_unused]] const bool isSet = [] {
  own::setSignatureVerifier(&isSigned);
  return true;
}();

}  // namespace
"""


def add_verifier(package: Path) -> None:
    """Adds a source to the C++ of an unpacked package, which sets it."""
    found = re.search(r"mobpack::(\w+)", (package / "cpp/Signatures.h").read_text(encoding="utf-8"))
    assert found
    source = VERIFIER.replace("NAMESPACE", found[1])
    (package / "cpp/Verifier.cpp").write_text(source, encoding="utf-8", newline="\n")
