// Stands in for Apple's Core Graphics: images are bytes of red, green, blue and alpha, and drawing copies them.

@_exported import Foundation

public typealias CFData = Data
public typealias CFString = String

public struct CGColorSpace {
    public static let sRGB = "kCGColorSpaceSRGB"

    public init?(name: CFString) {
        guard name == CGColorSpace.sRGB else { return nil }
    }
}

public enum CGImageAlphaInfo: UInt32 {
    case none = 0
    case premultipliedLast = 1
    case last = 3
}

public struct CGBitmapInfo {
    let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

public enum CGColorRenderingIntent {
    case defaultIntent
}

public final class CGDataProvider {
    let data: Data

    public init?(data: CFData) {
        self.data = data
    }
}

public final class CGImage {
    public let width: Int
    public let height: Int
    public let bytes: [UInt8]

    public init(width: Int, height: Int, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    public convenience init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
        bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) {
        guard bitsPerComponent == 8, bitsPerPixel == 32, bytesPerRow == 4 * width else { return nil }
        guard bitmapInfo.rawValue == CGImageAlphaInfo.last.rawValue, provider.data.count == bytesPerRow * height else {
            return nil
        }
        self.init(width: width, height: height, bytes: [UInt8](provider.data))
    }
}

public final class CGContext {
    private let target: UnsafeMutableRawBufferPointer
    private let (width, height, bytesPerRow): (Int, Int, Int)

    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: UInt32
    ) {
        guard let data, bitsPerComponent == 8, bytesPerRow >= 4 * width, width > 0, height > 0 else { return nil }
        guard bitmapInfo == CGImageAlphaInfo.premultipliedLast.rawValue else { return nil }
        target = UnsafeMutableRawBufferPointer(start: data, count: bytesPerRow * height)
        (self.width, self.height, self.bytesPerRow) = (width, height, bytesPerRow)
    }

    public func draw(_ image: CGImage, in rect: CGRect) {
        precondition(rect == CGRect(x: 0, y: 0, width: width, height: height), "all of it is drawn")
        for row in 0..<image.height {
            let source = image.bytes[row * 4 * image.width..<(row + 1) * 4 * image.width]
            UnsafeMutableRawBufferPointer(rebasing: target[(row * bytesPerRow)...]).copyBytes(from: source)
        }
    }
}
