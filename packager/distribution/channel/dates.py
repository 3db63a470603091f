"""Dates of documents: a publisher's wrong clock would be signed, and devices believe what is signed."""

from datetime import UTC, datetime, timedelta

from packager.core.errors import GateError
from packager.distribution.channel.document import TIME, Document, time_of

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""there were no channels before"""
LAST = datetime(2036, 1, 1, tzinfo=UTC)
"""for a first document, which has no other to be compared with"""
PAUSE = timedelta(days=366)
"""for which nobody may have renewed a channel after its end"""
SKEW = timedelta(days=1)
"""of a reader's clock"""
CHECK = "set the clock if it is wrong (`date -u` shows it); if it is right: --clock-is-right"


def refuse_implausible(before: Document | None, now: datetime) -> None:
    """Raises GateError if a document that follows `before` cannot have been published `now`."""
    clock = f"this machine's clock says {now.strftime(TIME)}"
    if before is None:
        if not FIRST <= now < LAST:
            raise GateError(f"{clock}: a channel begins between {FIRST.year} and {LAST.year}", hint=CHECK)
        return
    refuse_before(f"document {before.number}", before.published, now)
    if now > time_of(before.expires) + PAUSE:
        raise GateError(
            f"{clock}, more than {PAUSE.days} days after the end of document {before.number}, {before.expires}",
            hint=CHECK,
        )


def refuse_before(name: str, published: str, now: datetime) -> None:
    """Raises GateError if what follows `name` cannot have been published `now`."""
    if now < time_of(published):
        raise GateError(
            f"this machine's clock says {now.strftime(TIME)}, and {name}, which comes before, was published at "
            f"{published}",
            hint=f"{CHECK}, and devices that have seen {name} take nothing that ends before its date",
        )


def refuse_future(document: Document, now: datetime) -> None:
    """Raises GateError for a document of which devices learn a time that has not come yet."""
    if time_of(document.published) > now + SKEW:
        raise GateError(
            f"document {document.number} of the channel '{document.channel}' was published at {document.published}, in "
            f"the future: this machine's clock says {now.strftime(TIME)}",
            hint="set the clock if it is wrong (`date -u` shows it); if the publisher's was, publish again",
        )
