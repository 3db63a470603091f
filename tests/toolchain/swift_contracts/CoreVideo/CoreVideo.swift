// Stands in for Apple's Core Video: what packages use of it, with the same names, and with pixels in memory.

import Foundation

public typealias OSType = UInt32
public typealias CVReturn = Int32
public typealias CVPixelBuffer = CVBuffer

public let kCVReturnSuccess: CVReturn = 0
public let kCVReturnError: CVReturn = -6660
public let kCVPixelFormatType_32BGRA: OSType = 0x4247_5241
public let kCVPixelFormatType_32RGBA: OSType = 0x5247_4241
public let kCVPixelFormatType_32ARGB: OSType = 32
public let kCVPixelFormatType_24RGB: OSType = 24
public let kCVPixelFormatType_24BGR: OSType = 0x3234_4247
public let kCVPixelFormatType_OneComponent8: OSType = 0x4C30_3038
public let kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: OSType = 0x3432_3066
public let kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: OSType = 0x3432_3076
public let kCVPixelFormatType_420YpCbCr10BiPlanarFullRange: OSType = 0x7866_3230
public let kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange: OSType = 0x7834_3230
public let kCVImageBufferYCbCrMatrixKey = NSString(string: "CVImageBufferYCbCrMatrix")
public let kCVImageBufferYCbCrMatrix_ITU_R_709_2 = NSString(string: "ITU_R_709_2")
public let kCVImageBufferYCbCrMatrix_ITU_R_601_4 = NSString(string: "ITU_R_601_4")

public struct CVPixelBufferLockFlags: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}

public final class CVBuffer {
    public let width: Int
    public let height: Int
    public let format: OSType
    public let bytesPerRow: Int
    public let memory: UnsafeMutableRawBufferPointer
    /// Of chroma, whose rows lie at the end of the memory.
    public let chromaBytesPerRow: Int
    public var matrix: NSString?
    /// How often it is locked at this moment, and how often it was.
    public private(set) var locks = 0
    public private(set) var locked = 0
    public var canBeLocked = true

    public init(
        width: Int, height: Int, format: OSType, bytesPerRow: Int, chromaBytesPerRow: Int = 0, bytes: [UInt8]
    ) {
        self.width = width
        self.height = height
        self.format = format
        self.bytesPerRow = bytesPerRow
        self.chromaBytesPerRow = chromaBytesPerRow
        memory = .allocate(byteCount: bytesPerRow * height + chromaBytesPerRow * height / 2, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
        memory.copyBytes(from: bytes)
    }

    deinit {
        memory.deallocate()
    }

    fileprivate func lock() -> CVReturn {
        guard canBeLocked else { return kCVReturnError }
        locks += 1
        locked += 1
        return kCVReturnSuccess
    }

    fileprivate func unlock() -> CVReturn {
        locks -= 1
        return kCVReturnSuccess
    }
}

public func CVPixelBufferGetWidth(_ buffer: CVPixelBuffer) -> Int { buffer.width }
public func CVPixelBufferGetHeight(_ buffer: CVPixelBuffer) -> Int { buffer.height }
public func CVPixelBufferGetBytesPerRow(_ buffer: CVPixelBuffer) -> Int { buffer.bytesPerRow }
public func CVPixelBufferGetPixelFormatType(_ buffer: CVPixelBuffer) -> OSType { buffer.format }

/// Nil unless it is locked.
public func CVPixelBufferGetBaseAddress(_ buffer: CVPixelBuffer) -> UnsafeMutableRawPointer? {
    buffer.locks > 0 ? buffer.memory.baseAddress : nil
}

public func CVPixelBufferGetBytesPerRowOfPlane(_ buffer: CVPixelBuffer, _ plane: Int) -> Int {
    plane == 0 ? buffer.bytesPerRow : buffer.chromaBytesPerRow
}

public func CVPixelBufferGetHeightOfPlane(_ buffer: CVPixelBuffer, _ plane: Int) -> Int {
    plane == 0 ? buffer.height : buffer.height / 2
}

/// Nil unless it is locked.
public func CVPixelBufferGetBaseAddressOfPlane(_ buffer: CVPixelBuffer, _ plane: Int) -> UnsafeMutableRawPointer? {
    CVPixelBufferGetBaseAddress(buffer).map { plane == 0 ? $0 : $0 + buffer.bytesPerRow * buffer.height }
}

public func CVBufferCopyAttachment(_ buffer: CVBuffer, _ key: NSString, _ mode: UnsafeMutablePointer<UInt32>?) -> AnyObject? {
    precondition(key == kCVImageBufferYCbCrMatrixKey, "the only attachment that a package asks for")
    return buffer.matrix
}

public func CFEqual(_ one: AnyObject, _ other: AnyObject) -> Bool {
    one as? NSString == other as? NSString
}

@discardableResult
public func CVPixelBufferLockBaseAddress(_ buffer: CVPixelBuffer, _ flags: CVPixelBufferLockFlags) -> CVReturn {
    precondition(flags == .readOnly, "a model reads pixels")
    return buffer.lock()
}

@discardableResult
public func CVPixelBufferUnlockBaseAddress(_ buffer: CVPixelBuffer, _ flags: CVPixelBufferLockFlags) -> CVReturn {
    precondition(flags == .readOnly && buffer.locks > 0, "unlocked as it was locked")
    return buffer.unlock()
}
