// Bundles the entries of a package: node bundle.mjs ESBUILD LIB OUT ENTRY...
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [esbuild, lib, out, ...entries] = process.argv.slice(2);
const { build } = await import(pathToFileURL(esbuild).href);

// Addresses stay those of the module's own place, though all code lies in the outermost folder.
const addresses = {
  name: 'addresses',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.js$/ }, async ({ path }) => {
      const place = JSON.stringify(`./${relative(lib, path)}`);
      const text = await readFile(path, 'utf8');
      const isOutermost = dirname(path) === resolve(lib);
      return { contents: isOutermost ? text : text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url)`) };
    });
  },
};

await build({
  entryPoints: entries.map((each) => resolve(lib, each)),
  outbase: lib,
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  logLevel: 'warning',
  plugins: [addresses],
});
