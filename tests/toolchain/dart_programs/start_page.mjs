// Starts a program of Dart that was compiled for pages, under Node: `node start_page.mjs FOLDER KIND LIBRARY`, where KIND
// is `js` or `wasm`. Prints what it leaves in the global `said`.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const [, , folder, kind, library] = process.argv;
globalThis.self = globalThis;
globalThis.library = library;
if (kind === 'js') {
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  vm.runInThisContext(readFileSync(`${folder}/page.js`, 'utf8'), { filename: `${folder}/page.js`, importModuleDynamically });
} else {
  const { compile } = await import(`${folder}/page.mjs`);
  (await (await compile(readFileSync(`${folder}/page.wasm`))).instantiate({})).invokeMain();
}
while (globalThis.said === undefined) await new Promise((done) => setTimeout(done, 20));
process.stdout.write(globalThis.said, () => process.exit(0));
