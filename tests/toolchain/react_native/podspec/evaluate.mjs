// usage: node evaluate.mjs PROJECT COCOAPODS.rb CASES.json: evaluates podspecs in CRuby, compiled to WebAssembly.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [project, cocoapods, cases] = process.argv.slice(2);
const { DefaultRubyVM } = createRequire(join(project, 'package.json'))('@ruby/wasm-wasi/dist/node');
const program = join(project, 'node_modules', '@ruby', '3.4-wasm-wasi', 'dist', 'ruby+stdlib.wasm');
const { vm } = await DefaultRubyVM(await WebAssembly.compile(readFileSync(program)));
vm.eval(readFileSync(cocoapods, 'utf8'));

const literal = (text) =>
  text === null ? 'nil' : `"${Buffer.from(text).toString('base64')}".unpack1("m").force_encoding("UTF-8")`;
const made = JSON.parse(readFileSync(cases, 'utf8')).map(({ podspec, description, properties }) => {
  const arguments_ = [podspec, description, properties].map(literal).join(', ');
  return JSON.parse(vm.eval(`JSON.generate(evaluate(${arguments_}))`).toString());
});
process.stdout.write(JSON.stringify(made));
