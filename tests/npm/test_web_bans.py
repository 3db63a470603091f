"""Which releases a page bans: those that are at fault, for 30 days; none for the mood of a device."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.toolchain import updated_web
from tests.toolchain.chromium import browser
from tests.toolchain.delivered_android import MODEL
from tests.toolchain.updated_web import Site, channel, release, samples
from tests.toolchain.web.bundled import ENTRIES, bundled

OWN, SECOND, THIRD = "1.2.3", "1.2.4", "1.2.5"
MOST_STARTS = 3
DAYS = 30
BROKEN = b"this is not a model" * 100

FAIL = """
(() => {
  window.failures = [];
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (question, transfer) {
    const code = question.call.method === 'open' ? window.failures.shift() : undefined;
    if (code === undefined) postMessage.call(this, question, transfer);
    else setTimeout(() => this.onmessage({ data: { number: question.number, failure: { code, message: 'made up' } } }));
  };
})()
"""
"""`failures` has codes for the next models that the worker is to open."""
STATE = """
new Promise((resolve) => {
  indexedDB.open('mobpack models stable').onsuccess = ({ target: { result } }) => {
    result.transaction('texts').objectStore('texts').get('state.json').onsuccess = ({ target }) => {
      result.close();
      resolve(target.result);
    };
  };
})
"""


@pytest.fixture(scope="module")
def one_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("package")
    updated_web.write(folder)
    with (
        browser(tmp_path_factory.mktemp("chromium"), seconds=1800.0) as opened,
        updated_web.site(opened, bundled(folder, *ENTRIES)) as made,
    ):
        yield made


@pytest.fixture
def site(one_site: Site) -> Site:
    one_site.reset()
    one_site.visit()
    one_site.page.value(FAIL)
    return one_site


def visit(site: Site) -> None:
    """The app is started again."""
    site.visit()
    site.page.value(FAIL)


def fail(site: Site, *codes: str) -> None:
    site.page.value(f"window.failures.push(...{json.dumps(codes)})")


def stored(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(site.page.value(STATE))["models"][MODEL]
    return found


def bans(site: Site) -> list[str]:
    return [each["version"] for each in stored(site)["banned"]]


def hide(site: Site) -> None:
    site.page.value("void Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })")


def test_a_release_at_which_onnx_runtime_fails_is_banned_after_three_starts_of_the_app_for_30_days(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs, content=BROKEN)))
    for start in range(1, MOST_STARTS):
        phase, version, _ = site.update("force")
        assert (phase, version, bans(site)) == ("failed", OWN, [])
        assert stored(site)["failing"] == {"version": SECOND, "starts": start}
        phase, _, said = site.update("force")
        assert (phase, "tried again when the app is started" in said) == ("waiting", True)
        assert stored(site)["failing"]["starts"] == start, "once for each start"
        visit(site)
    phase, version, said = site.update("force")
    assert (phase, version, f"version {SECOND} is not used for {DAYS} days" in said) == ("failed", OWN, True)
    [ban] = stored(site)["banned"]
    now = site.page.value("Date.now()")
    assert DAYS - 1 < (ban["until"] - now) / (24 * 3_600_000) <= DAYS
    assert stored(site)["failing"] is None
    assert site.update() == ("up-to-date", OWN, "")

    visit(site)
    site.page.value(f"(() => {{ const real = Date.now; Date.now = () => real() + {DAYS + 1} * 24 * 3600000; }})()")
    assert site.update("force")[0] == "failed", "the ban has ended: it is tried again"
    assert stored(site)["failing"] == {"version": SECOND, "starts": 1}


def test_wrong_numbers_are_banned_at_once_and_observers_hear_of_it(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs, golden=samples(3))))
    told, counted, attributes = site.page.value(
        """(async () => {
          const { ModelMetrics } = await import('/vision/lib/index.js');
          const { ModelUpdater } = await import('/vision/lib/updates.js');
          const metrics = new ModelMetrics(), told = [];
          const onBan = metrics.onBan.bind(metrics);
          metrics.onBan = (event) => { told.push(event); onBan(event); };
          await new ModelUpdater(app.updater.source.url, { observer: metrics }).update();
          const [snapshot] = metrics.snapshot();
          return [told, snapshot.bans, snapshot.attributes()['mobpack.release.bans']];
        })()"""
    )
    assert [(each["model"], each["version"], "FAILED" in each["reason"]) for each in told] == [(MODEL, SECOND, True)]
    assert (counted, attributes, bans(site)) == (1, 1, [SECOND])


@pytest.mark.parametrize("code", ["host", "out-of-memory", "network", "no-space", "cancelled"])
def test_a_device_that_fails_bans_nothing(site: Site, code: str) -> None:
    """A load opens what comes before for this time, and an update tries again."""
    site.publish(channel(1, release(2, site.blobs)))
    for _ in range(MOST_STARTS + 1):
        fail(site, code)
        found = site.ask("update force")
        assert found.get("code", found.get("states", {}).get(MODEL, {}).get("phase")) in ("failed", "cancelled"), found
    assert site.update("force") == ("ready", SECOND, "")
    for _ in range(MOST_STARTS + 1):
        fail(site, code)
        found = site.ask("load")
        assert (found.get("source"), found.get("code")) in (("bundled", None), (None, "cancelled")), found
        assert (stored(site)["active"]["version"], stored(site)["failing"]) == (SECOND, None)
    assert bans(site) == []
    assert site.load() == (SECOND, "updater")


def test_a_load_at_which_onnx_runtime_fails_opens_the_one_before_until_the_release_is_banned(site: Site) -> None:
    second = release(2, site.blobs)
    for number, releases in enumerate(((second,), (release(3, site.blobs), second)), 1):
        site.publish(channel(number, *releases))
        assert site.update()[0] == "ready"
    for start in range(1, MOST_STARTS):
        visit(site)
        fail(site, "runtime")
        assert site.load() == (SECOND, "updater")
        assert site.load() == (SECOND, "updater"), "it is not opened again in this start"
        assert stored(site)["failing"] == {"version": THIRD, "starts": start}
        assert stored(site)["active"]["version"] == THIRD
    visit(site)
    fail(site, "runtime")
    assert site.load() == (SECOND, "updater")
    assert (bans(site), stored(site)["active"]["version"]) == ([THIRD], SECOND)


def test_a_release_that_starts_after_all_has_no_failures(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    assert site.update()[0] == "ready"
    for _ in range(MOST_STARTS):
        fail(site, "runtime")
        assert site.load() == (OWN, "bundled")
        visit(site)
        assert site.load() == (SECOND, "updater")
        assert stored(site)["failing"] is None
    assert bans(site) == []


def test_what_onnx_runtime_cannot_do_while_nobody_sees_the_page_does_not_count(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs)))
    for _ in range(MOST_STARTS + 1):
        hide(site)
        fail(site, "runtime")
        assert site.update("force")[0] == "failed"
        assert (stored(site)["failing"], bans(site)) == (None, [])
        visit(site)
    assert site.update("force") == ("ready", SECOND, "")


def test_bans_of_earlier_versions_of_the_app_have_ended(site: Site) -> None:
    site.publish(channel(1, release(2, site.blobs, golden=samples(3))))
    assert site.update()[0] == "failed"
    site.page.value(
        """new Promise((resolve) => {
          indexedDB.open('mobpack models stable').onsuccess = ({ target: { result } }) => {
            const store = result.transaction('texts', 'readwrite').objectStore('texts');
            store.get('state.json').onsuccess = ({ target }) => {
              const text = target.result.replace(/,"until":\\d+/, '').replace(/,"failing":null/, '');
              store.put(text, 'state.json').onsuccess = () => { result.close(); resolve(); };
            };
          };
        })"""
    )
    visit(site)
    site.publish(channel(2, release(2, site.blobs, golden=samples(2))))
    assert site.update("force") == ("ready", SECOND, "")
