// What becomes of an updater's lock when JavaScript ends: `host locks.js PLAN`, in a package with a channel.

import './globals.js';
import { check, equal, until } from './checks.js';
import { TurboModuleRegistry } from './react-native.js';

const engine = TurboModuleRegistry.get('ModelsCxx');

const cases = {
  /** Ends while a file waits for the disk. */
  async endsWithALock() {
    check(engine.lock(plan.lock) !== 0, 'nobody has it');
    void engine.writeText(plan.text, 'written');
    await until(() => engine.fileSize(plan.waiting) >= 0, () => 'the disk is asked');
  },

  async waitsForTheLock() {
    equal(engine.lock(plan.lock), 0, 'a lock of what is still written');
    host.write(plan.go, new ArrayBuffer(0));
    await until(() => engine.lock(plan.lock) !== 0, () => 'the lock is free');
    check(engine.fileSize(plan.text) > 0, 'the file is written by then');
  },
};

cases[plan.case]().then(
  () => {
    console.log('RESULT null');
    if (plan.next === undefined) host.exit(0);
    else host.reload(plan.next);
  },
  (error) => {
    console.log(`FAILED ${error.message}`);
    host.exit(1);
  },
);
