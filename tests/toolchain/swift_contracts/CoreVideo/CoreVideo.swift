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
    /// How often it is locked at this moment, and how often it was.
    public private(set) var locks = 0
    public private(set) var locked = 0
    public var canBeLocked = true

    public init(width: Int, height: Int, format: OSType, bytesPerRow: Int, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.format = format
        self.bytesPerRow = bytesPerRow
        memory = .allocate(byteCount: bytesPerRow * height, alignment: 64)
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
