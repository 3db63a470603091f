"""Which attributes a real module lacks: `python gpu_lacking.py MODULE PATH...`; prints a JSON list. It stands alone."""

import importlib
import json
import sys


def lacks(module: object, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(module, name):
            return True
        module = getattr(module, name)
    return False


if __name__ == "__main__":
    print(json.dumps([path for path in sys.argv[2:] if lacks(importlib.import_module(sys.argv[1]), path)]))
