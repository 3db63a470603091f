import Foundation

extension Foundation.Bundle {
    // SwiftPM adds this to a target that has resources.
    static let module = Bundle.main
}
