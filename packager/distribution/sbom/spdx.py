"""The bill of materials of one package as SPDX 3.0.1, with the library spdx-python-model.

The format demands a date: it is that of entries in archives that mobpack writes, so that the same content gives the
same bytes.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from urllib.parse import quote

from packager import __version__
from packager.core import licenses
from packager.core.card import Dataset
from packager.core.components import Component, Parts
from packager.core.errors import ToolError
from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.distribution.sbom import card, cyclonedx
from packager.distribution.sbom.bill import DescribedModels, bill, shipped_models
from packager.distribution.sbom.card import ShippedModel
from packager.distribution.sbom.cyclonedx import Entry

VERSION = "3.0.1"
DATE = datetime(1980, 1, 1, tzinfo=UTC)
USES = {"training": "trainedOn", "fine-tuning": "trainedOn", "evaluation": "testedOn"}
"""use of data -> relationship of a model to them"""


def spdx(package: Package, parts: Parts, plans: Sequence[Plan], described: DescribedModels, report: Report) -> str:
    """The same facts as `bill` with a report, as JSON-LD. Raises ToolError without the library."""
    model = spdx_library()
    serial = uuid.uuid5(uuid.NAMESPACE_URL, bill(package, parts, plans, described, report))
    writer = _Writer(model, f"urn:uuid:{serial}#")
    root = writer.library(parts.package, model.software_SoftwarePurpose.library)
    for part in sorted((cyclonedx.mobpack(), *parts.libraries), key=cyclonedx.reference):
        writer.relate(root, "hasOptionalDependency" if part.is_optional else "dependsOn", [writer.library(part)])
    models = [writer.model(each, package.version) for each in shipped_models(plans, described, report)]
    writer.relate(root, "contains", models)
    return writer.text(root)


def spdx_library() -> Any:
    """The bindings of SPDX 3.0.1. Raises ToolError where they are not installed."""
    try:
        from spdx_python_model import v3_0_1
    except ImportError:
        raise ToolError("SPDX needs spdx-python-model", hint="pip install 'mobpack[spdx]'") from None
    return v3_0_1


class _Writer:
    """Collects the elements of one document."""

    def __init__(self, model: Any, start: str) -> None:
        self._model = model
        self._start = start
        self._elements: list[Any] = []
        self._creation = model.CreationInfo(_id="_:creation", specVersion=VERSION, created=DATE)
        agent = self._add(model.SoftwareAgent, "mobpack", name=f"mobpack {__version__}")
        self._creation.createdBy = [agent]

    def library(self, part: Component, purpose: str = "") -> Any:
        model = self._model
        element = self._add(
            model.software_Package,
            cyclonedx.reference(part),
            name="/".join(each for each in (part.group, part.name) if each),
            software_packageVersion=part.version,
            software_packageUrl=part.purl,
            software_downloadLocation=part.address,
            software_primaryPurpose=purpose or model.software_SoftwarePurpose.library,
            description=part.about,
            comment=f"allowed versions: {part.allowed}" if part.allowed else "",
            verifiedUsing=self._hashes(part.sha256 if part.address else ""),
        )
        self._license(element, part.license)
        return element

    def model(self, shipped: ShippedModel, package_version: str) -> Any:
        """A model, its data and its files. Texts are those of its entry in CycloneDX."""
        told, found = shipped.card, card.entry(shipped, package_version)
        details = found["modelCard"]
        element = self._add(
            self._model.ai_AIPackage,
            card.reference(shipped.model),
            name=found["name"],
            software_packageVersion=found["version"],
            software_homePage=told.source,
            software_primaryPurpose=self._model.software_SoftwarePurpose.model,
            description=told.description,
            ai_domain=[task] if (task := details["modelParameters"].get("task")) else [],
            ai_typeOfModel=[each for each in (told.architecture, told.learning) if each],
            ai_metric=list(self._metrics(details)),
            ai_limitation="; ".join(_texts(details, "technicalLimitations")),
            ai_informationAboutApplication="; ".join((*told.uses, *told.users)),
            verifiedUsing=self._hashes(shipped.model.sha256),
        )
        self._license(element, told.license)
        for data in told.datasets:
            self.relate(element, USES.get(data.use, "trainedOn"), [self._dataset(data, shipped)])
        self.relate(element, "contains", [self._file(each) for each in found["components"]])
        return element

    def _file(self, found: Entry) -> Any:
        (digest,) = found["hashes"]
        return self._add(
            self._model.software_File,
            found["bom-ref"],
            name=found["name"],
            software_primaryPurpose=self._model.software_SoftwarePurpose.model,
            comment="; ".join(f"{each['name'].partition(':')[2]}: {each['value']}" for each in found["properties"]),
            verifiedUsing=self._hashes(digest["content"]),
        )

    def _dataset(self, data: Dataset, shipped: ShippedModel) -> Any:
        kind = self._model.dataset_DatasetType.noAssertion
        element = self._add(
            self._model.dataset_DatasetPackage,
            f"{card.reference(shipped.model)}/data/{len(self._elements)}",
            name=data.name,
            description=data.description,
            software_homePage=data.url,
            software_primaryPurpose=self._model.software_SoftwarePurpose.data,
            dataset_datasetType=[kind],
            dataset_intendedUse=data.use,
            comment=f"sensitive: {', '.join(data.sensitive)}" if data.sensitive else "",
        )
        self._license(element, data.license)
        return element

    def _metrics(self, details: Entry) -> Iterator[Any]:
        for each in details.get("quantitativeAnalysis", {}).get("performanceMetrics", ()):
            key = f"{each['type']}, {each['slice']}" if "slice" in each else each["type"]
            yield self._model.DictionaryEntry(key=key, value=each["value"])

    def relate(self, start: Any, kind: str, ends: Sequence[Any]) -> None:
        if ends:
            reference = f"{start.spdxId.removeprefix(self._start)}/{kind}/{len(self._elements)}"
            named = getattr(self._model.RelationshipType, kind)
            self._add(self._model.Relationship, reference, quoted=False, from_=start, relationshipType=named, to=ends)

    def _license(self, element: Any, text: str) -> None:
        """Terms that are no SPDX expression become one of their own."""
        if not text:
            return
        expression = licenses.normalized(text)
        if not expression:
            expression = licenses.OWN_TERMS + "".join(each if each.isalnum() else "-" for each in text)
        reference = f"license/{len(self._elements)}"
        found = self._add(
            self._model.simplelicensing_LicenseExpression, reference, simplelicensing_licenseExpression=expression
        )
        self.relate(element, "hasDeclaredLicense", [found])

    def _hashes(self, digest: str) -> list[Any]:
        kind = self._model.HashAlgorithm.sha256
        return [self._model.Hash(algorithm=kind, hashValue=digest)] if digest else []

    def _add(self, kind: Any, reference: str, *, quoted: bool = True, **values: Any) -> Any:
        """A new element; empty values are left out."""
        name = quote(reference, safe="") if quoted else reference
        filled = {key: value for key, value in values.items() if value not in ("", [])}
        element = kind(spdxId=self._start + name, creationInfo=self._creation, **filled)
        self._elements.append(element)
        return element

    def text(self, root: Any) -> str:
        model = self._model
        profiles = [getattr(model.ProfileIdentifierType, each) for each in ("core", "simpleLicensing", "software")]
        whole = self._add(
            model.software_Sbom,
            "bill",
            software_sbomType=[model.software_SbomType.build],
            rootElement=[root],
            element=list(self._elements),
            profileConformance=profiles,
        )
        self._add(
            model.SpdxDocument,
            "document",
            name=root.name,
            rootElement=[whole],
            element=list(self._elements),
            profileConformance=profiles,
        )
        written = BytesIO()
        model.JSONLDSerializer().write(model.SHACLObjectSet(self._elements), written, indent=2)
        return written.getvalue().decode() + "\n"


def _texts(details: Entry, key: str) -> Iterable[str]:
    found: Iterable[str] = details.get("considerations", {}).get(key, ())
    return found
