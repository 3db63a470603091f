"""Edits an Xcode project: adds a target that runs the script, makes the app depend on it, and links the Swift package.

The script needs a target of its own. As a phase of the app it would wait for the package, while the package's sources,
which are outputs of the script, would wait for the script: a cycle in Xcode. (In Apple's open-source swift-build,
ShellScriptTaskProducer orders a script after target-begin, which TargetOrderTaskProducer orders after the end of every
target depended on.)
"""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.workflows.xcode.files import INPUTS, OUTPUTS, SCRIPT, XcodeFolders, in_xcode, relative
from packager.workflows.xcode.package import SwiftPackage

if TYPE_CHECKING:
    from pbxproj import XcodeProject

LOCAL_PACKAGES = 60
"""objectVersion of Xcode 15 for projects with local package references"""
NO_SANDBOX = "ENABLE_USER_SCRIPT_SANDBOXING"


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """Edits to make in a project; paths as Xcode names them."""

    name: str
    """name of the target that runs the script"""
    package: str
    """path of the Swift package, relative to the project's folder"""
    product: str
    script: str
    """shell command of the phase"""
    inputs: str
    outputs: str


def wiring(layout: XcodeFolders, package: SwiftPackage) -> Wiring:
    """The edits that add `package` to a project in `layout.source_root`."""
    script = relative(layout.out / SCRIPT, layout.source_root)
    return Wiring(
        name=f"mobpack {package.folder.name}",
        package=relative(package.folder, layout.source_root),
        product=package.product,
        script=f'"$SRCROOT"/{shlex.quote(script)}',
        inputs=in_xcode(layout.out / INPUTS, layout.source_root),
        outputs=in_xcode(layout.out / OUTPUTS, layout.source_root),
    )


def wire(project: "XcodeProject", app: Any, wiring: Wiring) -> None:
    """Adds the missing parts of `wiring` and corrects existing ones; names in the project are kept."""
    builder = add_builder(project, app, wiring)
    add_dependency(project, app, builder)
    link_package(project, app, wiring)
    if int(project.objectVersion) < LOCAL_PACKAGES:
        project["objectVersion"] = str(LOCAL_PACKAGES)


def add_builder(project: "XcodeProject", app: Any, wiring: Wiring) -> Any:
    """The aggregate target, whose only phase runs the script."""
    fields = {
        "buildConfigurationList": str(add_settings(project, app, wiring).get_id()),
        "buildPhases": [str(add_script(project, wiring).get_id())],
        "dependencies": [],
        "name": wiring.name,
        "productName": wiring.name,
    }
    target = put(project, "PBXAggregateTarget", wiring.name, fields)
    include(root(project), "targets", target)
    return target


def add_script(project: "XcodeProject", wiring: Wiring) -> Any:
    fields = {
        "buildActionMask": "2147483647",
        "files": [],
        "inputFileListPaths": [wiring.inputs],
        "inputPaths": [],
        "name": "Build models with mobpack",
        "outputFileListPaths": [wiring.outputs],
        "outputPaths": [],
        "runOnlyForDeploymentPostprocessing": "0",
        "shellPath": "/bin/sh",
        "shellScript": f"{wiring.script}\n",
    }
    return put(project, "PBXShellScriptBuildPhase", wiring.name, fields)


def add_settings(project: "XcodeProject", app: Any, wiring: Wiring) -> Any:
    """Build settings of the script's target, for every configuration of the app."""
    theirs = project.objects[app.buildConfigurationList]
    settings = {"PRODUCT_NAME": "$(TARGET_NAME)", NO_SANDBOX: "NO"}
    ours = [
        put(project, "XCBuildConfiguration", f"{wiring.name} {name}", {"buildSettings": settings, "name": name})
        for name in (project.objects[key].name for key in theirs.buildConfigurations)
    ]
    fields = {
        "buildConfigurations": [str(each.get_id()) for each in ours],
        "defaultConfigurationIsVisible": "0",
        "defaultConfigurationName": theirs.defaultConfigurationName,
    }
    return put(project, "XCConfigurationList", wiring.name, fields)


def add_dependency(project: "XcodeProject", app: Any, builder: Any) -> None:
    """Makes the app depend on the script's target."""
    role = f"{app.name} waits for {builder.name}"
    proxy = put(
        project,
        "PBXContainerItemProxy",
        role,
        {
            "containerPortal": str(project.rootObject),
            "proxyType": "1",
            "remoteGlobalIDString": str(builder.get_id()),
            "remoteInfo": builder.name,
        },
    )
    dependency = put(
        project,
        "PBXTargetDependency",
        role,
        {"target": str(builder.get_id()), "targetProxy": str(proxy.get_id())},
    )
    include(app, "dependencies", dependency)


def link_package(project: "XcodeProject", app: Any, wiring: Wiring) -> None:
    """Adds the package to the project and links its product, unless it was already linked in Xcode."""
    reference = existing(project, "XCLocalSwiftPackageReference", "relativePath", wiring.package)
    reference = reference or put(
        project, "XCLocalSwiftPackageReference", wiring.package, {"relativePath": wiring.package}
    )
    include(root(project), "packageReferences", reference)
    linked = [project.objects[key] for key in app.get("packageProductDependencies", [])]
    if any(each["productName"] == wiring.product for each in linked):
        return
    role = f"{app.name} links {wiring.product}"
    product = put(
        project,
        "XCSwiftPackageProductDependency",
        role,
        {"package": str(reference.get_id()), "productName": wiring.product},
    )
    include(app, "packageProductDependencies", product)
    phase = frameworks_phase(project, app)
    build_file = put(project, "PBXBuildFile", role, {"productRef": str(product.get_id())})
    build_file._section = phase._get_comment()  # comment that pbxproj prints after the name
    include(phase, "files", build_file)


def frameworks_phase(project: "XcodeProject", app: Any) -> Any:
    for key in app.buildPhases:
        if project.objects[key].isa == "PBXFrameworksBuildPhase":
            return project.objects[key]
    fields = {"buildActionMask": "2147483647", "files": [], "runOnlyForDeploymentPostprocessing": "0"}
    phase = put(project, "PBXFrameworksBuildPhase", f"{app.name} links", fields)
    include(app, "buildPhases", phase)
    return phase


def root(project: "XcodeProject") -> Any:
    return project.objects[project.rootObject]


def existing(project: "XcodeProject", isa: str, field: str, value: str) -> Any:
    found = [each for each in project.objects.get_objects_in_section(isa) if each[field] == value]
    return found[0] if found else None


def put(project: "XcodeProject", isa: str, role: str, fields: Mapping[str, object]) -> Any:
    """Creates or replaces the object of class `isa` and role `role`; its id derives from both, so that a second run
    finds it."""
    import pbxproj

    identity = hashlib.sha256(f"mobpack {isa} {role}".encode()).hexdigest()[:24].upper()
    if identity in project.objects:
        del project.objects[identity]
    made = getattr(pbxproj, isa)().parse({"_id": identity, "isa": isa, **fields})
    project.objects[made.get_id()] = made
    return made


def include(owner: Any, field: str, member: Any) -> None:
    """Appends `member` to a list of ids unless it is already there."""
    members = owner.get(field, None)
    if members is None:
        members = []
        setattr(owner, field, members)
    if member.get_id() not in members:
        members.append(member.get_id())
