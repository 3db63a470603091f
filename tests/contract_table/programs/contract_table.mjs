// Asks the package for pages, under Node: `node contract_table.mjs PACKAGE PLAN`. Prints the answers as JSON.

import { readFileSync } from 'node:fs';

const [, , folder, text] = process.argv;
const plan = JSON.parse(text);
const models = await import(`${folder}/lib/index.js`);
const { answers } = await import(`${plan.programs}/asking.mjs`);
const read = (name) => {
  const { buffer, byteOffset, byteLength } = readFileSync(`${plan.cases}/${name}`);
  return buffer.slice(byteOffset, byteOffset + byteLength);
};
const found = await answers(models, plan, read);
process.stdout.write(JSON.stringify(found), () => process.exit(0));
