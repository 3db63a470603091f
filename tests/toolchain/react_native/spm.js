// What `npx react-native spm` does before Xcode resolves the packages, but for downloading React Native's binaries.
//
//   node spm.js REACT_NATIVE APP

'use strict';

const path = require('path');

const [reactNative, app] = process.argv.slice(2);
const script = (name) => require(path.join(reactNative, 'scripts', 'spm', name));

script('generate-spm-autolinking').main([
  ...['--app-root', app, '--react-native-root', reactNative, '--xcframeworks-path', 'build/xcframeworks'],
]);
const { buildPerAppHeaderTree, installSpmCodegenTemplate } = script('spm-utils');
installSpmCodegenTemplate(app, reactNative);
buildPerAppHeaderTree(app);
