// Bundles the page as apps for browsers do: `node bundle.mjs FOLDER`, where page.jsx and node_modules are.
import { createRequire } from 'node:module';

const [folder] = process.argv.slice(2);
const { build } = createRequire(`${folder}/`)('esbuild');

await build({
  absWorkingDir: folder,
  entryPoints: ['page.jsx'],
  outfile: 'page.js',
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  alias: { 'react-native': 'react-native-web' },
  define: { 'process.env.NODE_ENV': '"development"' },
  preserveSymlinks: false,
  logLevel: 'warning',
});
