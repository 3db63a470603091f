"""Runs tests as on another system, as far as Linux can stand in for one: `python -m tests.elsewhere win32 FILE ...`.

`FILE ...` are arguments for pytest. The code of mobpack, in this process and in those that it starts, sees another
`sys.platform`; modules, names and folders that the system lacks are absent (`hosts.py`). On Windows, in addition:

- symbolic and hard links are refused, and so are process groups;
- files that are open or mapped cannot be renamed, replaced or removed, nor folders with such files;
- locks are those of `msvcrt`, and programs end with job objects: simple ones of Linux's making;
- relative paths have backslashes as text.

What cannot be stood in for: drive letters, Windows' own file systems, consoles and encodings, macOS' libraries. After
each test, no folder that it made may hold two names that differ in case only: neither system keeps both.
"""
