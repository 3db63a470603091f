// Stands in for UIKit's images, whose orientations have other numbers than those of files.

import CoreGraphics

public final class UIImage: Sendable {
    public enum Orientation: Int, CaseIterable, Sendable {
        case up = 0
        case down = 1
        case left = 2
        case right = 3
        case upMirrored = 4
        case downMirrored = 5
        case leftMirrored = 6
        case rightMirrored = 7
    }

    private let drawn: @Sendable () -> CGImage?
    public let imageOrientation: Orientation

    public init(_ drawn: @escaping @Sendable () -> CGImage?, orientation: Orientation) {
        self.drawn = drawn
        imageOrientation = orientation
    }

    public var cgImage: CGImage? { drawn() }
}
