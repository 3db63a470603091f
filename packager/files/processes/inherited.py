"""Selects variables of the environment that a program inherits: a few that every program needs, and those of its call.

No program inherits a secret, unless its call names that very variable.
"""

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from packager.core.secrets import is_secret

BASE = tuple(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP XDG_*
    LD_LIBRARY_PATH LD_PRELOAD DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH GLIBC_TUNABLES
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERNAME USERPROFILE USERDOMAIN APPDATA LOCALAPPDATA PROGRAMDATA
    PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS
    PROCESSOR_ARCHITECTURE OS
    """.split()
)
"""Variables of every program: where programs, libraries and files are, and what language is spoken."""
PYTHON = tuple(
    """
    PYTHONHOME PYTHONPATH PYTHONUSERBASE PYTHONNOUSERSITE PYTHONPLATLIBDIR PYTHONHASHSEED PYTHONDONTWRITEBYTECODE
    PYTHONPYCACHEPREFIX VIRTUAL_ENV
    """.split()
)
"""Variables of programs in Python: where modules are. Others change what a program does or prints (PYTHONINSPECT,
PYTHONOPTIMIZE, PYTHONWARNINGS, PYTHONIOENCODING)."""
MODELS = (
    *PYTHON,
    *"""
    OMP_* KMP_* GOMP_* MKL_* OPENBLAS_* GOTO_NUM_THREADS BLIS_* VECLIB_* NUMEXPR_* MALLOC_* ORT_*
    CUDA_* CUDNN_* NVIDIA_* NCCL_* HIP_* ROCR_* HSA_* ROCM_* MIOPEN_* MIGRAPHX_* OPENVINO_* ONEAPI_* QNN_* ADSP_*
    VK_* MESA_* LIBGL_* GALLIUM_* EGL_* DISPLAY WAYLAND_DISPLAY TF_* XLA_* JAX_* TORCH_* PYTORCH_* KERAS_* TRITON_*
    """.split(),
)
"""Variables of programs that open models: settings of what computes them."""
NETWORK = tuple(
    """
    HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    """.split()
)
"""Variables of programs that fetch something."""
PIP = (*PYTHON, *NETWORK, "PIP_*", "NETRC")
NPM = (*NETWORK, "NPM_CONFIG_*", "npm_config_*")
MAVEN = (*NETWORK, "JAVA_HOME", "MAVEN_*", "M2_HOME")


def users_code() -> tuple[str, ...]:
    """Variables of programs that run a function of the user: those without secrets, but what changes Python."""
    return (*MODELS, *(name for name in os.environ if not name.startswith("PYTHON") and not is_secret(name)))


def inherited(named: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The variables of BASE and those `named`, as they are set here. `X_*` names all that begin so and are no
    secrets."""
    names = (*BASE, *named)
    exact, patterns = {*names}, [name for name in names if "*" in name]
    for name, value in os.environ.items():
        key = name.upper() if os.name == "nt" else name
        if key in exact or (any(fnmatchcase(key, each) for each in patterns) and not is_secret(name)):
            yield name, value
