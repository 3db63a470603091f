# The targets that React Native's .aar brings, as Android's Gradle plugin hands them to CMake: without its libraries, and
# with the headers of its npm package.
set(common ${REACT_ANDROID_DIR}/../ReactCommon)
foreach(name jsi reactnative)
  add_library(ReactAndroid::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(ReactAndroid::${name} INTERFACE
    ${CMAKE_CURRENT_LIST_DIR}/include
    ${common}
    ${common}/callinvoker
    ${common}/jsi
    ${common}/react/nativemodule/core)
endforeach()
