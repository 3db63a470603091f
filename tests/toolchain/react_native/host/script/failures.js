// Cases on what the system refuses, and on work that JavaScript does not live to see the end of.

import { check, equal, failure, fails, until } from './checks.js';
import { engine, open, part, request } from './engine.js';

const NOTHING = new ArrayBuffer(0);
const size = (name) => engine.fileSize(`${plan.folder}/${name}`);
const make = (name) => host.write(`${plan.folder}/${name}`, NOTHING);

/** What a file that does not open says. */
export async function opensNot() {
  return (await failure(() => open(plan.file))).message;
}

export async function opensWithoutThreads() {
  host.write(plan.full, NOTHING);
  const opening = open(plan.file);
  check(opening instanceof Promise, 'nothing is thrown');
  const { message } = await failure(() => opening);
  check(message.startsWith('[out-of-memory] '), message);
  await engine.removeFile(plan.full).then(
    () => check(false, 'there is a thread'),
    () => undefined,
  );
}

/** JavaScript ends while a file waits for the disk. */
export async function endsAmidFiles() {
  host.write(plan.part, new ArrayBuffer(4));
  void engine.finishPart(plan.part, plan.path, 4, '');
  await until(() => engine.fileSize(plan.waiting) >= 0, () => 'the disk is asked');
  return null;
}

export async function endsWithAModel() {
  await open(plan.file);
  return null;
}

export async function waitsForTheRelease() {
  await until(() => engine.fileSize(plan.released) > 0, () => 'the model is released');
}

export async function endsWhatWasBegun() {
  equal(engine.fileSize(plan.path), -1, 'the file is not finished');
  host.write(plan.go, NOTHING);
  await until(() => engine.fileSize(plan.path) === 4, () => 'the file is finished');
}

/** Opens a model with a provider that has a folder of its own. */
function compiles() {
  const provider = { providerKeys: ['folder'], providerValues: [plan.folder] };
  return engine.open(request(part(plan.file), { provider: 'AZURE', ...provider }), null);
}

/** What is damaged is removed, but not what a model has open. */
export async function startsAnew() {
  await engine.makeFolder(plan.folder, []);
  make('damaged');
  const { session } = await compiles();
  equal(size('damaged'), -1, 'what the provider could not start with');
  make('whole');
  make('damaged');
  await fails(compiles, 'runtime', 'damaged');
  await engine.makeFolder(plan.other, []);
  equal(size('whole'), 0, 'what a model has open');
  await engine.removeFile(`${plan.folder}/damaged`);
  engine.close(session);
  await until(() => size('whole') === -1, () => 'of no use any more', () => engine.makeFolder(plan.other, []));
}

/** A folder that this package has not named is not emptied. */
export async function leavesTheAppsOwn() {
  await engine.makeFolder(plan.folder, []);
  make('damaged');
  await fails(compiles, 'runtime', 'damaged');
  equal(size('damaged'), 0, 'a file of the app');
}
