"""Sections that are added to a page which is there already, such as the report of a release."""

import re

PLACE = "</main>"


def with_section(page: str, name: str, section: str) -> str:
    """`page` with `section` as its last part, in place of an older one of that name, which must fit into a comment of
    HTML."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    older = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    before, place, after = older.sub("", page).rpartition(PLACE)
    return f"{before}{begin}{section}{end}{place}{after}"
