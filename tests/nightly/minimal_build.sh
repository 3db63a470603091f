#!/bin/sh
# Builds ONNX Runtime for Linux with nothing but the operators of one model, and checks what it can and cannot do.
#
#   tests/nightly/minimal_build.sh WORK_FOLDER        (as root, on Debian x86_64; about 15 minutes on two idle cores)
#
# It is what no Android NDK is needed for: the same source, the same reduction, the same flags as in the recipe of
# `mobpack runtime recipe`, with another compiler. Finished steps are not done again.
set -eu

work=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3} # one that mobpack is installed in
root="$work/trixie"
build="$root/build"
jobs=${JOBS:-2}

suite=trixie
source_file='onnxruntime_1.21.0+dfsg.orig.tar.xz'
source_sha256=32df1f82bd6b07b18372c0f387133214905cbde7a586b3ad83f0ed0075f80273
onnx_sdist='onnx==1.17.0'
setuptools='setuptools==80.10.2'
setuptools_sha256=95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173
onnx_sha256=48ca1a91ff73c1d5e3ea2eef20ae5d0e709bb8a2355ed798ffc2169753013fd3

main() {
    mirror=${DEBIAN_MIRROR:-$(cd "$repository" && "$python" -c 'from packager.files.processes.downloads import debian_mirror; print(debian_mirror())')}
    once debian make_root
    once sources fetch_sources
    convert_models
    once configured-"$(sha256sum "$build/orientation.required_operators_and_types.config" | cut -c1-16)" configure
    in_root nice -n 19 ninja -C made -j "$jobs" libonnxruntime.so
    in_root cc -Wall -Wextra -Werror -O1 -I source/include/onnxruntime/core/session -o run_model run_model.c \
        -L made -lonnxruntime -Wl,-rpath,/build/made
    in_root strip -o libonnxruntime.stripped.so made/libonnxruntime.so
    once full fetch_full_runtime
    cd "$repository" && "$python" tests/nightly/check_minimal_build.py "$root"
}

# once NAME COMMAND: runs COMMAND unless it has ended well before.
once() {
    [ -e "$work/done.$1" ] && return
    "$2"
    touch "$work/done.$1"
}

in_root() {
    chroot "$root" sh -c 'cd /build && exec "$@"' sh "$@"
}

# A Debian with ONNX Runtime's build dependencies; its own libraries take the place of what the build would download.
make_root() {
    rm -rf "$root"
    debootstrap --variant=buildd "$suite" "$root" "$mirror"
    mkdir "$build"
    printf 'deb %s %s main\ndeb-src %s %s main\n' "$mirror" "$suite" "$mirror" "$suite" >"$root/etc/apt/sources.list"
    export DEBIAN_FRONTEND=noninteractive
    in_root apt-get -q update
    in_root apt-get -qy --no-install-recommends build-dep onnxruntime
    in_root apt-get -qy --no-install-recommends install python3-flatbuffers patch
}

fetch_sources() {
    rm -rf "$build/source" "$build/onnx" "$work/sdist"
    curl -fsS -o "$work/$source_file" "$mirror/pool/main/o/onnxruntime/$source_file"
    echo "$source_sha256  $work/$source_file" | sha256sum -c -
    mkdir "$build/source" "$build/onnx"
    tar -xf "$work/$source_file" -C "$build/source" --strip-components=1

    # Without build isolation pip needs setuptools; with it, it would build CMake first. pip compares the hashes before
    # it runs code of either.
    "$python" -m venv "$work/pip"
    echo "$setuptools --hash=sha256:$setuptools_sha256" >"$work/setuptools.txt"
    echo "$onnx_sdist --hash=sha256:$onnx_sha256" >"$work/onnx.txt"
    "$work/pip/bin/pip" install -q --no-deps --require-hashes --only-binary :all: -r "$work/setuptools.txt"
    "$work/pip/bin/pip" download -q --no-deps --require-hashes --no-binary onnx --no-build-isolation \
        -d "$work/sdist" -r "$work/onnx.txt"
    tar -xf "$work"/sdist/*.tar.gz -C "$build/onnx" --strip-components=1

    # The sdist has DOS line ends, ONNX Runtime's patch for it has not.
    find "$build/onnx" -name '*.proto' -o -name '*.cc' -o -name '*.h' -o -name CMakeLists.txt | xargs sed -i 's/\r$//'
    patch -d "$build/onnx" -p1 -s <"$build/source/cmake/patches/onnx/onnx.patch"

    # Debian's Eigen is older than the one ONNX Runtime asks for: its min and max cannot pass NaN on.
    sed -i 's/\.template \(min\|max\)<Eigen::PropagateNaN>/.\1/' \
        "$build/source/onnxruntime/core/providers/cpu/math/element_wise_ops.cc"
}

# orientation is the model the runtime is built for, basic-pitch one that it cannot run.
convert_models() {
    cp "$here/system_libraries.cmake" "$here/run_model.c" "$build"
    for model in orientation basic_pitch; do
        path=$(cd "$repository" && "$python" -c "from tests.toolchain import models; print(models.$model())")
        (cd "$repository" && "$python" -m packager.cli convert "$path" --out "$build/$model.ort")
    done
}

configure() {
    in_root rm -rf made
    in_root python3 source/tools/ci_build/reduce_op_kernels.py --cmake_build_dir made --enable_type_reduction \
        orientation.required_operators_and_types.config
    in_root cmake -S source/cmake -B made -G Ninja \
        -DCMAKE_BUILD_TYPE=MinSizeRel \
        -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF \
        -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/build/system_libraries.cmake \
        -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--as-needed \
        -DFETCHCONTENT_SOURCE_DIR_ONNX=/build/onnx \
        -Dsafeint_SOURCE_DIR=/usr/include/safeint \
        -Donnxruntime_BUILD_SHARED_LIB=ON \
        -Donnxruntime_BUILD_UNIT_TESTS=OFF \
        -Donnxruntime_DISABLE_EXCEPTIONS=OFF \
        -Donnxruntime_DISABLE_ML_OPS=ON \
        -Donnxruntime_MINIMAL_BUILD=ON \
        -Donnxruntime_REDUCED_OPS_BUILD=ON
}

# Debian's own build of the same source with everything in it, to compare sizes.
fetch_full_runtime() {
    in_root apt-get -q download libonnxruntime1.21
    in_root sh -c 'dpkg-deb -x libonnxruntime1.21_*.deb full'
}

main
