"""One table of what servers, publishers, disks and systems do to devices, and what a device says: for all languages.

Scenarios of a visit happen to one device, one after the other. Before each, the app has the release FIRST from the
channel, unless the visit is with a `new` app. After the last, the app is started again and must open what it opened
last, and an honest document must bring it to the release `ends`.
"""

from pathlib import Path

from packager.signing.envelope import IN_TOTO
from tests.cases import delivery_events as events
from tests.cases.delivery_releases import BUNDLED, FIRST, SECOND
from tests.cases.delivery_server import claiming, endless, files_of, flipped, padded, releases
from tests.cases.delivery_stage import LOADS, SAME, Scenario, Visit
from tests.cases.trust_vectors import NEXT, STRANGER
from tests.toolchain.react_native.download.server import cut, other_bytes, status, whole

HUGE = 3 << 20
"""bytes: more than a document may have"""


VISITS: tuple[Visit, ...] = (
    Visit(
        name="answers that are no document",
        scenarios=(
            Scenario("the document is not there", "no answer", events.every(status(404))),
            Scenario("the server fails", "no answer", events.every(status(500))),
            Scenario("the server is busy", "no answer", events.refused_documents),
            Scenario("the document is cut", "cut and wrong lengths", events.every(cut(100))),
            Scenario("the document has a wrong length", "cut and wrong lengths", events.every(claiming(1000))),
            Scenario("the document has no end", "endless data", events.every(endless)),
            Scenario(
                "the document is huge", "endless data", events.rewritten(lambda text: text[:1] + b" " * HUGE + text[1:])
            ),
            Scenario("redirects without end", "another server", events.loops),
        ),
    ),
    Visit(
        name="documents that are refused",
        scenarios=(
            Scenario("a stranger's key", "arbitrary software", events.served(lambda c: c.publish(key=STRANGER))),
            Scenario(
                "a key that the app does not know yet", "a stolen key", events.served(lambda c: c.publish(key=NEXT))
            ),
            Scenario(
                "a document changed after signing",
                "arbitrary software",
                events.served(lambda c: c.publish(change=flipped)),
            ),
            Scenario("no signature", "arbitrary software", events.rewritten(lambda text: events.signatures(text, 0))),
            Scenario("two signatures", "arbitrary software", events.rewritten(lambda text: events.signatures(text, 2))),
            Scenario(
                "a signature of another kind", "arbitrary software", events.served(lambda c: c.publish(kind=IN_TOTO))
            ),
            Scenario(
                "the document of another package", "mix and match", events.edited(lambda d: d.update(package="other"))
            ),
            Scenario(
                "the document of another channel", "mix and match", events.edited(lambda d: d.update(channel="beta"))
            ),
            Scenario("a newer schema", "hostile text", events.edited(lambda d: d.update({"schema-version": 2}))),
            Scenario("no number", "hostile text", events.edited(lambda d: d.pop("number"))),
            Scenario("a number as text", "hostile text", events.edited(lambda d: d.update(number="4"))),
            Scenario("a number below 0", "hostile text", events.edited(lambda d: d.update(number=-6))),
            Scenario("no models", "hostile text", events.edited(lambda d: d.pop("models"))),
            Scenario("an end that is no time", "hostile text", events.no_times),
            Scenario("a rollout without salt", "hostile text", events.edited(events.release(rollout={"percent": 100}))),
            Scenario("an API that is no digest", "hostile text", events.edited(events.release(contract="x"))),
            Scenario("a path for a version", "paths", events.edited(events.release(version="../1"))),
            Scenario(
                "a path for a digest",
                "paths",
                events.edited(lambda d: files_of(releases(d)[0])[0].update(sha256="../" * 21 + "a")),
            ),
            Scenario("deep text", "hostile text", events.served(lambda c: c.sign(b"[" * 100_000))),
            Scenario("a deep envelope", "hostile text", events.rewritten(lambda text: b"[" * 100_000)),
            Scenario("nothing", "hostile text", events.rewritten(lambda text: b"")),
            Scenario("an expired document", "freeze", events.ended),
            Scenario("unknown keys", "", events.served(lambda c: c.publish(events.more_keys), LOADS, SECOND)),
        ),
        on_pages=False,
    ),
    Visit(
        name="older and reused numbers",
        scenarios=(
            Scenario("another document of the same number", "reused number", events.forked),
            Scenario("an older document after a failed download", "rollback", events.seen_first),
            Scenario("an older document", "rollback", events.older),
        ),
        on_pages=False,
    ),
    Visit(
        name="releases for others",
        scenarios=(
            Scenario(
                "a release for other code", "wrong software", events.edited(events.release(contract="0" * 64), SAME)
            ),
            Scenario(
                "a release for a newer app",
                "wrong software",
                events.edited(events.release(**{"min-app": "2.0.0"}), SAME),
            ),
            Scenario("a release for another runtime", "wrong software", events.edited(events.other_runtime, SAME)),
            Scenario("a release without files", "wrong software", events.edited(events.release(files=[]), SAME)),
            Scenario(
                "a release for no device yet",
                "",
                events.edited(lambda d: releases(d)[0]["rollout"].update(percent=0), SAME),
            ),
            Scenario("a release that waits for wifi", "", events.on_condition(wifi=True)),
            Scenario("a release that waits for storage", "", events.on_condition(**{"free-bytes": 2**53 - 1})),
        ),
        on_pages=False,
    ),
    Visit(
        name="files that are not those that were signed",
        scenarios=(
            Scenario("files are not there", "no answer", events.served(lambda c: c.on_blobs(status(404)))),
            Scenario(
                "a file is longer than signed",
                "endless data",
                events.as_whole_files(lambda c: c.on_blobs(padded(1000))),
            ),
            Scenario("a file has no end", "endless data", events.as_whole_files(lambda c: c.on_blobs(endless))),
            Scenario(
                "a file was shortened",
                "cut and wrong lengths",
                events.as_whole_files(lambda c: c.change_blobs(c.blobs(), lambda content: content[:-100])),
            ),
            Scenario(
                "a file was changed",
                "arbitrary software",
                events.as_whole_files(lambda c: c.change_blobs(c.blobs(), flipped)),
            ),
            Scenario("a file of another release", "mix and match", events.as_whole_files(events.mixed)),
        ),
        is_apart=True,
    ),
    Visit(
        name="files that come in the end",
        scenarios=(
            Scenario("a file is cut once", "cut and wrong lengths", events.is_cut()),
            Scenario("a file goes on without ranges", "cut and wrong lengths", events.is_cut(whole)),
            Scenario("a file goes on with the wrong range", "cut and wrong lengths", events.is_cut(other_bytes)),
            Scenario("everything has moved", "", events.moved),
        ),
    ),
    Visit(
        name="deltas that are no use",
        scenarios=(
            Scenario(
                "a delta was changed",
                "arbitrary software",
                events.served(lambda c: c.change_blobs(c.deltas(), flipped), LOADS, SECOND),
            ),
            Scenario("a delta for other files", "mix and match", events.served(events.other_deltas, LOADS, SECOND)),
            Scenario(
                "deltas are not there", "no answer", events.served(lambda c: c.on_deltas(status(404)), LOADS, SECOND)
            ),
            Scenario(
                "a delta is longer than signed",
                "endless data",
                events.served(lambda c: c.on_deltas(padded(1000)), LOADS, SECOND),
            ),
            Scenario("a delta that makes 8 MiB", "endless data", events.bomb),
        ),
    ),
    Visit(
        name="releases that the app or the publisher takes back",
        scenarios=(
            Scenario("a release without samples", "", events.without_samples),
            Scenario("the app pins a version", "", events.pinned),
            Scenario("the app freezes", "", events.frozen),
            Scenario("the app removes all", "", events.removed),
            Scenario("the publisher goes back", "a bad release", events.taken_back),
            Scenario("the publisher goes back to the app's own", "a bad release", events.to_the_start),
        ),
        on_pages=False,
    ),
    Visit(
        name="a release that is no model",
        scenarios=(Scenario("a release that is no model", "a bad release", events.no_model),),
        needs_process=True,
        on_pages=False,
    ),
    Visit(
        name="a release with wrong numbers",
        scenarios=(Scenario("a release with wrong numbers", "a bad release", events.wrong_numbers),),
        ends=FIRST,
        on_pages=False,
    ),
    Visit(name="the same document again", scenarios=(Scenario("the same document again", "", events.known),)),
    Visit(
        name="nothing for somebody who has nothing",
        scenarios=(Scenario("nothing new, said to somebody who has nothing", "no answer", events.never_new),),
        is_new=True,
    ),
    Visit(
        name="a clock that is behind",
        scenarios=(Scenario("a clock that is behind a document", "freeze", events.clock_behind),),
        on_pages=False,
    ),
    Visit(
        name="damaged files",
        scenarios=(
            Scenario("files lose their end", "damaged storage", events.damaged(events.cut_file)),
            Scenario("files change", "damaged storage", events.damaged(events.changed_file)),
            Scenario("files rot", "damaged storage", events.damaged(events.rotten_file)),
            Scenario("files are gone", "damaged storage", events.damaged(Path.unlink)),
        ),
        needs_folder=True,
    ),
    Visit(
        name="a damaged record",
        scenarios=(
            Scenario(
                "kept documents are damaged",
                "damaged storage",
                events.documents(lambda path, _: path.write_bytes(path.read_bytes()[:-50])),
            ),
            Scenario("kept documents are a stranger's", "damaged storage", events.documents(events.by_a_stranger)),
            Scenario(
                "the state is cut", "damaged storage", events.damaged_state(lambda text: text[:-20], is_known=True)
            ),
            Scenario("the state is empty", "damaged storage", events.damaged_state(lambda text: b"")),
            Scenario("the state is no JSON", "damaged storage", events.damaged_state(lambda text: b"\0" * 500)),
            Scenario("the state is another value", "damaged storage", events.damaged_state(lambda text: b"[1]")),
            Scenario("parts of something else", "damaged storage", events.left_overs),
        ),
        needs_folder=True,
    ),
    Visit(
        name="releases that have ended the app twice",
        scenarios=(
            Scenario(
                "a release that has ended the app twice when it was tried",
                "a bad release",
                events.ended_twice("trying"),
            ),
            Scenario(
                "a release that has ended the app twice when it was opened",
                "a bad release",
                events.ended_twice("opening"),
            ),
        ),
        ends=BUNDLED,
        needs_folder=True,
    ),
    Visit(name="redirects", scenarios=(Scenario("a redirect to http", "another server", events.http),), on_pages=False),
)
SCENARIOS = tuple(scenario for visit in VISITS for scenario in visit.scenarios)
