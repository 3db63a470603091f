"""jsonschema, without a library that it imports for addresses with letters of all languages: no test has such, and the
library takes two seconds to build its parsers."""

import sys

ADDRESSES = "rfc3987_syntax"

sys.modules.setdefault(ADDRESSES, None)  # type: ignore[arg-type]
import jsonschema  # noqa: E402

if sys.modules[ADDRESSES] is None:
    del sys.modules[ADDRESSES]

__all__ = ["jsonschema"]
