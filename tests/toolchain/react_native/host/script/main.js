// Runs one case: `host main.js PLAN`, where the plan is a JSON file that names it.

import './globals.js';
import { text } from './checks.js';
import * as failures from './failures.js';
import * as files from './files.js';
import * as frames from './frames.js';
import * as memory from './memory.js';
import * as models from './models.js';
import * as observing from './observing.js';
import * as policies from './policies.js';
import * as worklets from './worklets.js';

const cases = { ...failures, ...files, ...frames, ...memory, ...models, ...observing, ...policies, ...worklets };

Promise.resolve()
  .then(() => cases[plan.case]())
  .then((result) => {
    console.log(`RESULT ${text(result) ?? 'null'}`);
    if (plan.next === undefined) host.exit(0);
    else host.reload(plan.next);
  })
  .catch((error) => {
    console.log(`FAILED ${error.name}: ${error.message}\n${error.stack}`);
    host.exit(1);
  });
