'use strict';
// Expo's config plugin: `expo prebuild` runs it to place models in the native projects and to set what they need.
//
//   "plugins": [["react-native-vision", { "models": "package" }]]
//
// models  where the package's models come from:
//         "package" (default): Gradle and CocoaPods take them from this package, so that they always fit its code,
//         "app": copies in android/ and ios/, for projects that must hold all files of the app,
//         "none": left out of the app; load them with `source: { url }`

const fs = require('fs');
const path = require('path');

const PACKAGE = 'react-native-vision';
const VERSION = '1.0.0';
const FOLDER = 'mobpack/VisionModels';
const BUNDLE = 'VisionModelsModels.bundle';
const MODELS_PROPERTY = 'mobpack.VisionModels.models';
const PICK_FIRSTS = 'android.packagingOptions.pickFirsts';
const LIBRARY = '**/libonnxruntime.so';
const PLACES = ['package', 'app', 'none'];
const OPTIONS = ['models'];

/**
 * @param {object} config the app's configuration
 * @param {object} [options]
 * @param {'package' | 'app' | 'none'} [options.models]
 */
function withModels(config, options) {
  const root = config._internal?.projectRoot ?? process.cwd();
  const plugins = expoPlugins(root);
  const models = readModels(options ?? {});
  const forAndroid = [withAssets, withGradleProperties];
  const forIos = [withBundle, withBundleReference, withPodfileProperties];
  const withSteps = (plain) => [...forAndroid, ...forIos].reduce((made, step) => step(made, models, plugins), plain);
  return plugins.createRunOncePlugin(withSteps, PACKAGE, VERSION)(config);
}

/** The app's own Expo: this package depends on none. */
function expoPlugins(root) {
  return require(require.resolve('expo/config-plugins', { paths: [root, __dirname] }));
}

/** Where the models are to be; everything else in `options` is a mistake. */
function readModels(options) {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) {
      refuse(`the config plugin has no option '${name}', did you mean '${nearest(name, OPTIONS)}'?`);
    }
  }
  const models = options.models ?? 'package';
  if (!PLACES.includes(models)) {
    refuse(`'models' is one of ${PLACES.join(', ')}: did you mean '${nearest(String(models), PLACES)}'?`);
  }
  return models;
}

function refuse(words) {
  throw new Error(`${PACKAGE}: ${words}`);
}

function packageFiles(platform) {
  const folders = ['both', platform].map((name) => path.join(__dirname, 'models', name, FOLDER));
  return folders
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder).sort().map((name) => path.join(folder, name)));
}

function nearest(name, names) {
  const far = (left, right) => {
    if (!left || !right) return left.length + right.length;
    if (left[0] === right[0]) return far(left.slice(1), right.slice(1));
    return 1 + Math.min(far(left.slice(1), right), far(left, right.slice(1)), far(left.slice(1), right.slice(1)));
  };
  const word = name.slice(0, 10).toLowerCase();
  return [...names].sort((one, other) => far(word, one) - far(word, other))[0];
}

/** Makes `folder` hold `files` and nothing else; there is none when there are no files. */
function fill(folder, files) {
  fs.rmSync(folder, { recursive: true, force: true });
  if (files.length > 0) fs.mkdirSync(folder, { recursive: true });
  for (const file of files) fs.copyFileSync(file, path.join(folder, path.basename(file)));
}

function withAssets(config, models, { withDangerousMod }) {
  return withDangerousMod(config, [
    'android',
    (mod) => {
      const folder = path.join(mod.modRequest.platformProjectRoot, 'app', 'src', 'main', 'assets', FOLDER);
      fill(folder, models === 'app' ? packageFiles('android') : []);
      return mod;
    },
  ]);
}

function withGradleProperties(config, models, { withGradleProperties: withProperties }) {
  return withProperties(config, (mod) => {
    const kept = mod.modResults.filter((each) => each.key !== MODELS_PROPERTY);
    const pickFirsts = kept.find((each) => each.key === PICK_FIRSTS);
    // Other libraries may bring ONNX Runtime's native library too, and an app takes one file of a name.
    const patterns = (pickFirsts?.value ?? '').split(',').map((each) => each.trim()).filter(Boolean);
    const value = [...new Set([...patterns, LIBRARY])].join(',');
    if (pickFirsts) {
      pickFirsts.value = value;
    } else {
      kept.push({ type: 'property', key: PICK_FIRSTS, value });
    }
    if (models !== 'package') kept.push({ type: 'property', key: MODELS_PROPERTY, value: models });
    mod.modResults = kept;
    return mod;
  });
}

/** The same bundle that CocoaPods would make of the files in this package. */
function withBundle(config, models, { withDangerousMod }) {
  return withDangerousMod(config, [
    'ios',
    (mod) => {
      const { platformProjectRoot, projectName } = mod.modRequest;
      const folder = path.join(platformProjectRoot, projectName, BUNDLE);
      fill(folder, models === 'app' ? packageFiles('ios') : []);
      if (models === 'app') fs.writeFileSync(path.join(folder, 'Info.plist'), bundleInfo());
      return mod;
    },
  ]);
}

/** The App Store takes no bundle without one. */
function bundleInfo() {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>CFBundleIdentifier</key>
  <string>org.mobpack.models.visionmodelscxx</string>
  <key>CFBundleInfoDictionaryVersion</key>
  <string>6.0</string>
  <key>CFBundleName</key>
  <string>VisionModelsModels</string>
  <key>CFBundlePackageType</key>
  <string>BNDL</string>
  <key>CFBundleShortVersionString</key>
  <string>1.0</string>
  <key>CFBundleVersion</key>
  <string>1</string>
</dict>
</plist>
`;
}

function withBundleReference(config, models, { IOSConfig, withXcodeProject }) {
  return withXcodeProject(config, (mod) => {
    const { projectName } = mod.modRequest;
    if (models !== 'app') {
      removeReference(mod.modResults);
    } else {
      // Adds nothing that is there already.
      IOSConfig.XcodeUtils.addResourceFileToGroup({
        filepath: `${projectName}/${BUNDLE}`,
        groupName: projectName,
        isBuildFile: true,
        project: mod.modResults,
      });
    }
    return mod;
  });
}

/** Takes out what an earlier run with other options added. */
function removeReference(project) {
  const { PBXBuildFile, PBXFileReference, PBXGroup, PBXResourcesBuildPhase } = project.hash.project.objects;
  const names = [BUNDLE, `${BUNDLE} in Resources`];
  for (const section of [PBXBuildFile, PBXFileReference]) {
    for (const key of Object.keys(section).filter((each) => names.includes(section[`${each}_comment`]))) {
      delete section[key];
      delete section[`${key}_comment`];
    }
  }
  for (const group of Object.values(PBXGroup).filter((each) => each.children)) {
    group.children = group.children.filter((each) => !names.includes(each.comment));
  }
  for (const phase of Object.values(PBXResourcesBuildPhase).filter((each) => each.files)) {
    phase.files = phase.files.filter((each) => !names.includes(each.comment));
  }
}

function withPodfileProperties(config, models, { withPodfileProperties: withProperties }) {
  return withProperties(config, (mod) => {
    delete mod.modResults[MODELS_PROPERTY];
    if (models !== 'package') mod.modResults[MODELS_PROPERTY] = models;
    return mod;
  });
}

module.exports = withModels;
