// Asks a package for one picture: `host picture.js PLAN`, where the plan has its address and options.

import './globals.js';
import { pictureFrom } from 'react-native-contracts/image';

function shown({ data, ...picture }) {
  return { ...picture, data: Array.from(new Uint8Array(data)), isNative: host.isNative(data) };
}

pictureFrom(plan.uri, plan.options)
  .then(shown, ({ name, code, message }) => ({ name, code, message }))
  .then((result) => {
    console.log(`RESULT ${JSON.stringify(result)}`);
    host.exit(0);
  });
