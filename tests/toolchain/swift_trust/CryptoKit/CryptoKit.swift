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
    case authenticationFailure
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

    fileprivate static func function<Function>(_ name: String, _ type: Function.Type) -> Function {
        guard let library = dlopen("libcrypto.so.3", RTLD_NOW), let symbol = dlsym(library, name) else {
            fatalError("libcrypto.so.3 has no \(name)")
        }
        return unsafeBitCast(symbol, to: type)
    }
}

public struct SymmetricKey: Sendable {
    fileprivate let bytes: [UInt8]

    public init(data: some ContiguousBytes) {
        bytes = data.withUnsafeBytes { [UInt8]($0) }
    }
}

public enum HKDF<Hash> {
    /// RFC 5869, for as many bytes as one digest has.
    public static func deriveKey(
        inputKeyMaterial: SymmetricKey, salt: some DataProtocol, info: some DataProtocol, outputByteCount: Int
    ) -> SymmetricKey {
        let extracted = OpenSSL.hmac(key: [UInt8](salt), message: inputKeyMaterial.bytes)
        return SymmetricKey(data: OpenSSL.hmac(key: extracted, message: [UInt8](info) + [1]))
    }
}

public enum AES {
    public enum GCM {
        public struct Nonce {
            fileprivate let bytes: [UInt8]

            public init(data: some DataProtocol) throws {
                bytes = [UInt8](data)
                guard bytes.count == 12 else { throw CryptoKitError.incorrectParameterSize }
            }
        }

        public struct SealedBox {
            fileprivate let nonce: [UInt8]
            fileprivate let ciphertext: [UInt8]
            fileprivate let tag: [UInt8]

            public init(nonce: Nonce, ciphertext: some DataProtocol, tag: some DataProtocol) throws {
                self.nonce = nonce.bytes
                self.ciphertext = [UInt8](ciphertext)
                self.tag = [UInt8](tag)
                guard self.tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
            }
        }

        public static func open(
            _ box: SealedBox, using key: SymmetricKey, authenticating associated: some DataProtocol
        ) throws -> Data {
            try Data(OpenSSL.opened(box.ciphertext, box.tag, key.bytes, box.nonce, [UInt8](associated)))
        }
    }
}

extension OpenSSL {
    private static let newCipher = function("EVP_CIPHER_CTX_new", (@convention(c) () -> Handle?).self)
    private static let freeCipher = function("EVP_CIPHER_CTX_free", (@convention(c) (Handle) -> Void).self)
    private static let aes256Gcm = function("EVP_aes_256_gcm", (@convention(c) () -> Handle?).self)
    private static let beginDecrypt = function(
        "EVP_DecryptInit_ex",
        (@convention(c) (Handle, Handle?, Handle?, UnsafePointer<UInt8>, UnsafePointer<UInt8>) -> Int32).self)
    private static let decrypt = function(
        "EVP_DecryptUpdate",
        (@convention(c) (Handle, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>, UnsafePointer<UInt8>, Int32) ->
            Int32).self)
    private static let control = function(
        "EVP_CIPHER_CTX_ctrl", (@convention(c) (Handle, Int32, Int32, UnsafeMutableRawPointer?) -> Int32).self)
    private static let endDecrypt = function(
        "EVP_DecryptFinal_ex",
        (@convention(c) (Handle, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int32>) -> Int32).self)
    private static let hmacOf = function(
        "HMAC",
        (@convention(c) (
            Handle?, UnsafePointer<UInt8>, Int32, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>,
            UnsafeMutablePointer<UInt32>
        ) -> UnsafeMutablePointer<UInt8>?).self)
    private static let setTag: Int32 = 0x11

    static func hmac(key: [UInt8], message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var size: UInt32 = 0
        _ = hmacOf(sha256Method(), key, Int32(key.count), message, message.count, &digest, &size)
        return digest
    }

    /// Throws where the tag is another, as CryptoKit does.
    static func opened(
        _ ciphertext: [UInt8], _ tag: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ associated: [UInt8]
    ) throws -> [UInt8] {
        guard let context = newCipher() else { throw CryptoKitError.invalidParameter }
        defer { freeCipher(context) }
        var plain = [UInt8](repeating: 0, count: ciphertext.count + 16)
        var (size, expected) = (Int32(0), tag)
        _ = beginDecrypt(context, aes256Gcm(), nil, key, nonce)
        _ = decrypt(context, nil, &size, associated, Int32(associated.count))
        _ = decrypt(context, &plain, &size, ciphertext, Int32(ciphertext.count))
        _ = control(context, setTag, 16, &expected)
        guard endDecrypt(context, &plain, &size) == 1 else { throw CryptoKitError.authenticationFailure }
        return Array(plain.prefix(ciphertext.count))
    }
}
