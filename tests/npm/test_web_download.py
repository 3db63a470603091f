"""Downloads of a page: what was cut off goes on where it stopped, in the same load and on the next visit; what does not
belong together is thrown away."""

from collections import deque
from collections.abc import Iterator, Mapping

import numpy as np
import onnxruntime
import pytest

from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native.download.server import Fault, cut, status, whole
from tests.toolchain.web.bundled import bundled
from tests.toolchain.web.page import RUN_MINILM, Page, embedding, package, page_of
from tests.toolchain.web.site import files_of

PIECE = 2 << 20
CUT = 5_000_000
"""bytes of the model after which connections break: of those under way the browser loses up to two pieces"""
LARGE_CUT = 9_000_000
"""the same for MiniLM, whose connections break twice"""
LOAD = """
const shares = [];
await OrientationModel.load({ onProgress: ({ loadedBytes }) => shares.push(loadedBytes) });
return [shares[0], shares.every((share, index) => index === 0 || share >= shares[index - 1]), shares.at(-1)];
"""
KEYS = """
const cache = await caches.open('mobpack @example/models');
const keys = (await cache.keys()).map(({ url }) => new URL(url).pathname);
"""
SEE = """
const model = await OrientationModel.load();
const seen = await model.predict({ data: new Uint8Array(4 * 64 * 48), width: 64, height: 48 });
return Array.from(Object.values(seen)[0].data);
"""
"""the body of a function: what the model makes of a black picture"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The package's files by their path on the site, with its modules bundled, for many pages."""
    return files_of(bundled(package(tmp_path_factory.mktemp("package")), "index.js"), "/vision/")


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=1800.0) as opened:
        yield opened


@pytest.fixture
def page(open_browser: Browser, files: dict[str, bytes]) -> Iterator[Page]:
    with page_of(open_browser, files) as opened:
        yield opened


@pytest.fixture(scope="module")
def model(files: dict[str, bytes]) -> str:
    """The path of the model's file."""
    return path_of("orientation", files)


def path_of(name: str, files: Mapping[str, bytes]) -> str:
    (path,) = (path for path in files if path.endswith(f"/{name}.ort"))
    return path


@pytest.fixture(scope="module")
def seen(files: dict[str, bytes], model: str) -> object:
    """The result of SEE in Python."""
    given = {
        "x.pixels": np.zeros((48, 64, 4), np.uint8),
        "x.channels": np.array([0, 1, 2]),
        "x.orientation": np.array(1),
        "x.chroma": np.zeros((1, 1, 1), np.uint8),
        "x.conversion": np.array([0, 0, 0]),
    }
    (scores,) = onnxruntime.InferenceSession(files[model]).run(None, given)
    return pytest.approx(scores.ravel().tolist(), abs=1e-5)


def broken(page: Page, model: str, *faults: Fault | None) -> None:
    """Has the next requests for the model go wrong."""
    page.server.files.faults_by_path[model] = deque(faults)


def ranges(page: Page, model: str) -> list[str]:
    """The ranges of the model that the server was asked for; empty for all of it."""
    return [each.range.removeprefix("bytes=") for each in page.server.files.requests if each.path == model]


def rest(start: int, content: bytes) -> str:
    return f"{start}-{len(content) - 1}"


def give_up(page: Page, model: str) -> int:
    """A visit whose download breaks and ends; how many bytes were kept: the browser may lose some that were sent."""
    broken(page, model, cut(CUT), status(404))
    page.visit()
    assert page.run(LOAD, "OrientationModel")[0] == "missing"
    kept: int = page.run(f"{KEYS} return keys.length;") * PIECE
    assert 0 < kept <= CUT
    return kept


def test_a_connection_that_breaks_is_taken_up_where_it_broke(page: Page, files: dict[str, bytes]) -> None:
    minilm = path_of("minilm", files)
    broken(page, minilm, cut(LARGE_CUT), status(503), cut(LARGE_CUT))
    page.visit()
    assert page.run(RUN_MINILM) == pytest.approx(embedding(), abs=1e-5)
    first, *others = ranges(page, minilm)
    assert first == ""
    starts = [int(each.partition("-")[0]) for each in others]
    assert 0 < starts[0] == starts[1] <= LARGE_CUT
    assert starts[1] < starts[2] <= 2 * LARGE_CUT
    assert others == [rest(start, files[minilm]) for start in starts]


def test_the_next_visit_asks_for_the_rest_only_and_counts_what_is_there(
    page: Page, model: str, files: dict[str, bytes], seen: object
) -> None:
    kept = give_up(page, model)

    page.visit()
    found = page.run(LOAD, "OrientationModel")
    assert ranges(page, model) == [rest(kept, files[model])]
    assert found == [PIECE, True, len(files[model])]

    page.visit()
    assert page.run(SEE, "OrientationModel") == seen
    assert ranges(page, model) == []


def test_a_server_without_ranges_sends_all_of_it_again(
    page: Page, model: str, files: dict[str, bytes], seen: object
) -> None:
    kept = give_up(page, model)
    broken(page, model, whole)
    page.visit()
    assert page.run(SEE, "OrientationModel") == seen
    assert ranges(page, model) == [rest(kept, files[model])]


@pytest.mark.parametrize("has_tags", [True, False])
def test_the_first_pieces_of_another_file_are_thrown_away(
    page: Page, model: str, files: dict[str, bytes], seen: object, has_tags: bool
) -> None:
    """Without ETags the checksum tells it."""
    page.server.files.has_tags = has_tags
    page.server.files.by_path[model] = bytes(len(files[model]))
    kept = give_up(page, model)

    page.server.files.by_path[model] = files[model]
    page.visit()
    assert page.run(SEE, "OrientationModel") == seen
    assert ranges(page, model) == [rest(kept, files[model]), ""]


def test_a_file_that_is_another_one_now_is_refused_and_not_kept(
    page: Page, model: str, files: dict[str, bytes]
) -> None:
    give_up(page, model)
    page.server.files.by_path[model] = bytes(len(files[model]))
    page.visit()
    code, message = page.run(SEE, "OrientationModel")
    assert (code, "has sha256" in message) == ("corrupted", True), message
    assert page.run(f"{KEYS} return keys;") == []


def test_a_piece_that_the_browser_has_damaged_is_fetched_again(page: Page, seen: object) -> None:
    page.visit()
    assert page.run(SEE, "OrientationModel") == seen
    page.run(
        f"""{KEYS}
        const path = keys.find((key) => key.endsWith('/{2 * PIECE}'));
        const {{ headers, body }} = await cache.match(path);
        const bytes = new Uint8Array(await new Response(body).arrayBuffer());
        bytes[77] ^= 1;
        await cache.put(path, new Response(bytes, {{ headers }}));
        """
    )
    page.visit()
    assert page.run(SEE, "OrientationModel") == seen
    asked = [each.range for each in page.server.files.requests if each.range]
    assert asked == [f"bytes={2 * PIECE}-{3 * PIECE - 1}"]


def test_a_download_that_is_cancelled_goes_on_on_the_next_visit(page: Page, model: str, seen: object) -> None:
    page.visit()
    code = page.run(
        f"""
        const controller = new AbortController();
        const onProgress = ({{ loadedBytes }}) => {{ if (loadedBytes > {CUT}) controller.abort(); }};
        return OrientationModel.load({{ signal: controller.signal, onProgress }}).catch((error) => error.code);
        """,
        "OrientationModel",
    )
    assert code == "cancelled"
    page.visit()
    assert page.run(SEE, "OrientationModel") == seen
    [asked] = ranges(page, model)
    assert int(asked.partition("-")[0]) > 0
