// Compiles projects one after the other, each as `tsc -p CONFIG` does beside it. Declarations that several of them read are
// parsed once, as `tsc --build` does, and the compiler itself is loaded and warm.
//
//   node tsc.cjs TYPESCRIPT CONFIG...
//
// Prints a line of JSON for each: the exit status of tsc, and what it says.

'use strict';

const path = require('node:path');

const [typescript, ...configs] = process.argv.slice(2);
const ts = require(typescript);
const DECLARATION = /\.d\.[cm]?ts$/;

/** Declarations by name, and by what the way of reading them depends on. */
const declarations = new Map();

function hostOf(options, system) {
  const host = ts.createCompilerHost(options, undefined, system);
  const { getSourceFile } = host;
  host.getCurrentDirectory = system.getCurrentDirectory;
  host.getSourceFile = (name, how, ...rest) => {
    if (!DECLARATION.test(name)) return getSourceFile(name, how, ...rest);
    const { languageVersion, impliedNodeFormat, jsDocParsingMode } = how;
    const key = JSON.stringify([name, languageVersion, impliedNodeFormat, jsDocParsingMode]);
    if (!declarations.has(key)) declarations.set(key, getSourceFile(name, how, ...rest));
    return declarations.get(key);
  };
  return host;
}

function compile(config) {
  const folder = path.dirname(config);
  let output = '';
  const system = { ...ts.sys, getCurrentDirectory: () => folder, write: (text) => void (output += text) };
  const report = ts.createDiagnosticReporter(system, false);
  const parsed = ts.getParsedCommandLineOfConfigFile(config, {}, { ...system, onUnRecoverableConfigFileDiagnostic: report });
  if (parsed === undefined) return { status: 1, output };
  const { fileNames: rootNames, options } = parsed;
  const program = ts.createProgram({
    rootNames,
    options,
    host: hostOf(options, system),
    configFileParsingDiagnostics: ts.getConfigFileParsingDiagnostics(parsed),
  });
  const status = ts.emitFilesAndReportErrorsAndGetExitStatus(program, report);
  return { status, output };
}

for (const config of configs) console.log(JSON.stringify(compile(config)));
