// Stands in for Apple's CryptoKit on Linux: what packages use of it, with the same names, computed by OpenSSL's libcrypto.

import Foundation

public enum SHA256 {
    public static func hash(data: some DataProtocol) -> SHA256Digest {
        var digest = [UInt8](repeating: 0, count: 32)
        let bytes = [UInt8](data)
        _ = OpenSSL.sha256(bytes, bytes.count, &digest)
        return SHA256Digest(bytes: digest)
    }
}

public struct SHA256Digest: Sequence, Sendable {
    let bytes: [UInt8]

    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

public enum P256 {
    public enum Signing {
        public struct PublicKey {
            private let spki: [UInt8]

            /// Throws for what is no key, as CryptoKit does.
            public init(derRepresentation: some DataProtocol) throws {
                spki = [UInt8](derRepresentation)
                guard let key = OpenSSL.key(spki) else { throw CryptoKitError.invalidParameter }
                OpenSSL.freeKey(key)
            }

            public func isValidSignature(_ signature: ECDSASignature, for message: some DataProtocol) -> Bool {
                guard let key = OpenSSL.key(spki), let context = OpenSSL.newContext() else { return false }
                defer {
                    OpenSSL.freeContext(context)
                    OpenSSL.freeKey(key)
                }
                guard OpenSSL.begin(context, nil, OpenSSL.sha256Method(), nil, key) == 1 else { return false }
                let (der, bytes) = (signature.der, [UInt8](message))
                return OpenSSL.verify(context, der, der.count, bytes, bytes.count) == 1
            }
        }

        public struct ECDSASignature {
            private let raw: [UInt8]

            /// Throws unless there are 64 bytes, as CryptoKit does.
            public init(rawRepresentation: some DataProtocol) throws {
                raw = [UInt8](rawRepresentation)
                guard raw.count == 64 else { throw CryptoKitError.incorrectParameterSize }
            }

            fileprivate var der: [UInt8] {
                let numbers = ECDSASignature.number(raw[..<32]) + ECDSASignature.number(raw[32...])
                return [0x30, UInt8(numbers.count)] + numbers
            }

            private static func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
                let digits = bytes.drop { $0 == 0 }
                let sign: [UInt8] = digits.first.map { $0 < 0x80 } ?? false ? [] : [0]
                return [2, UInt8(digits.count + sign.count)] + sign + digits
            }
        }
    }
}

public enum CryptoKitError: Error {
    case incorrectParameterSize
    case invalidParameter
}

/// The functions of OpenSSL's libcrypto that are used, by their names there.
private enum OpenSSL {
    typealias Handle = OpaquePointer

    static func key(_ spki: [UInt8]) -> Handle? {
        spki.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return read(nil, &start, buffer.count)
        }
    }

    private static let read = function(
        "d2i_PUBKEY", (@convention(c) (Handle?, UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Handle?).self)
    static let freeKey = function("EVP_PKEY_free", (@convention(c) (Handle) -> Void).self)
    static let newContext = function("EVP_MD_CTX_new", (@convention(c) () -> Handle?).self)
    static let freeContext = function("EVP_MD_CTX_free", (@convention(c) (Handle) -> Void).self)
    static let sha256Method = function("EVP_sha256", (@convention(c) () -> Handle?).self)
    static let begin = function(
        "EVP_DigestVerifyInit", (@convention(c) (Handle, Handle?, Handle?, Handle?, Handle) -> Int32).self)
    static let verify = function(
        "EVP_DigestVerify",
        (@convention(c) (Handle, UnsafePointer<UInt8>, Int, UnsafePointer<UInt8>, Int) -> Int32).self)
    static let sha256 = function(
        "SHA256",
        (@convention(c) (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>?).self)

    private static func function<Function>(_ name: String, _ type: Function.Type) -> Function {
        guard let library = dlopen("libcrypto.so.3", RTLD_NOW), let symbol = dlsym(library, name) else {
            fatalError("libcrypto.so.3 has no \(name)")
        }
        return unsafeBitCast(symbol, to: type)
    }
}
