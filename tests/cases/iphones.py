"""iPhones at a Mac, with stand-ins for Apple's tools that print what devicectl and xcodebuild are known to print."""

from pathlib import Path


def swift_package(folder: Path) -> Path:
    """Sources by which a Swift package of mobpack's is known."""
    package = folder / "nets"
    (package / "Sources").mkdir(parents=True)
    (package / "Package.swift").write_text('.library(name: "NetsKit", targets: [])', encoding="utf-8")
    swift = "public final class Net: TypedModel, SelfTestingModel {\n    public let session: ModelSession\n}\n"
    (package / "Sources" / "Net.swift").write_text(swift, encoding="utf-8")
    providers = 'public enum Provider: String, Sendable {\n    case coreML = "CoreML"\n    case cpu = "CPU"\n}\n'
    (package / "Sources" / "Provider.swift").write_text(providers, encoding="utf-8")
    return package
