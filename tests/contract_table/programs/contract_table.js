// Asks the module for React Native: `app contract_table.js PLAN`.

import '@host/globals.js';
import * as models from '@example/models';

import { answers } from './asking.js';

answers(models, plan, (name) => host.read(`${plan.cases}/${name}`))
  .then((found) => {
    console.log(`RESULT ${JSON.stringify(found)}`);
    host.exit(0);
  })
  .catch((error) => {
    console.log(`FAILED ${error.name}: ${error.message}\n${error.stack}`);
    host.exit(1);
  });
