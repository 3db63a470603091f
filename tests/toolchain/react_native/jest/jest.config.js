// PACKAGE: the npm package under test. Its code is made of ES modules, which jest does not read without Babel.
// One file of tests a time: onnxruntime-node ends a process that loads it twice.
const { PACKAGE } = process.env;

module.exports = {
  preset: '@react-native/jest-preset',
  testEnvironment: './environment.js',
  testMatch: ['<rootDir>/*.test.js'],
  transformIgnorePatterns: [`node_modules/(?!(react-native|@react-native|${PACKAGE})/)`],
  testTimeout: 240_000,
  cacheDirectory: '<rootDir>/cache',
};
