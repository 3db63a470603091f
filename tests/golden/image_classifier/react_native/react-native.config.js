// What React Native's command line and Expo link into an app. An app turns parts of it off in its own
// react-native.config.js.

/** @type {import('@react-native-community/cli-types').UserDependencyConfig} */
module.exports = {
  dependency: {
    platforms: {
      android: {
        cxxModuleCMakeListsModuleName: 'vision_models_mobpack',
        cxxModuleCMakeListsPath: 'CMakeLists.txt',
        cxxModuleHeaderName: 'VisionModelsCxx',
      },
    },
  },
};
