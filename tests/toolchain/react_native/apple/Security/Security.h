// Stands in for Apple's Security framework: what packages use of it, with the same names and types.

#pragma once

#include <CoreGraphics/CoreGraphics.h>

extern "C" {

typedef struct __SecKey *SecKeyRef;
typedef CFStringRef SecKeyAlgorithm;
typedef struct __CFError *CFErrorRef;

extern const CFStringRef kSecAttrKeyType;
extern const CFStringRef kSecAttrKeyTypeECSECPrimeRandom;
extern const CFStringRef kSecAttrKeyClass;
extern const CFStringRef kSecAttrKeyClassPublic;
extern const SecKeyAlgorithm kSecKeyAlgorithmECDSASignatureMessageX962SHA256;

SecKeyRef SecKeyCreateWithData(CFDataRef data, CFDictionaryRef attributes, CFErrorRef *error);
unsigned char SecKeyVerifySignature(
    SecKeyRef key, SecKeyAlgorithm algorithm, CFDataRef message, CFDataRef signature, CFErrorRef *error);
}
