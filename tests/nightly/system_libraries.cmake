# Gives ONNX Runtime's build the system's libraries instead of downloads: a CMake dependency provider.
# Debian's packages have other CMake names than ONNX Runtime looks for, or no CMake files at all.

macro(provide_system_library method name)
  if("${name}" STREQUAL "Protobuf")
    find_package(Protobuf MODULE REQUIRED)
  elseif("${name}" STREQUAL "re2")
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)
    add_library(re2::re2 ALIAS PkgConfig::RE2)
  elseif("${name}" STREQUAL "GSL")
    find_package(Microsoft.GSL CONFIG REQUIRED)
  elseif("${name}" STREQUAL "eigen")
    find_package(Eigen3 CONFIG REQUIRED)
  elseif("${name}" STREQUAL "mp11")
    find_package(Boost REQUIRED)
  elseif("${name}" STREQUAL "abseil_cpp")
    find_package(absl CONFIG REQUIRED)
  elseif("${name}" STREQUAL "pytorch_cpuinfo")
    find_package(cpuinfo CONFIG REQUIRED)
  elseif(NOT "${name}" STREQUAL "utf8_range") # which only a protobuf built from source needs
    find_package(${name} CONFIG REQUIRED)
  endif()
  FetchContent_SetPopulated(${name})
endmacro()

cmake_language(SET_DEPENDENCY_PROVIDER provide_system_library SUPPORTED_METHODS FETCHCONTENT_MAKEAVAILABLE_SERIAL)
