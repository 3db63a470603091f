// Asks the package for pages, or the one for Node, under Node: `node contract_table.mjs MODULE PLAN`. Prints the answers as JSON.

import { readFileSync } from 'node:fs';

const [, , module, text] = process.argv;
const plan = JSON.parse(text);
const models = await import(module);
const { answers } = await import(`${plan.programs}/asking.mjs`);
const read = (name) => {
  const { buffer, byteOffset, byteLength } = readFileSync(`${plan.cases}/${name}`);
  return buffer.slice(byteOffset, byteOffset + byteLength);
};
const found = await answers(models, plan, read);
process.stdout.write(JSON.stringify(found), () => process.exit(0));
