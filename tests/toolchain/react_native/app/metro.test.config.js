// metro.config.js as the package's README has it, for a node_modules that is full of links.
const fs = require('fs');
const path = require('path');
const { mergeConfig } = require('@react-native/metro-config');

const reactNative = fs.realpathSync(path.dirname(require.resolve('react-native/package.json')));

module.exports = mergeConfig(require('./metro.config.js'), {
  watchFolders: [path.dirname(reactNative)],
  fileMapCacheDirectory: __dirname,
});
