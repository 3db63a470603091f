// Cases on the TurboModule's files and on what it makes of wrong arguments.

import { equal, fails, later, until } from './checks.js';
import { engine, open, part, request } from './engine.js';

const bytes = (...values) => Uint8Array.from(values).buffer;
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const NONE = '0'.repeat(64);
const at = (name) => `${plan.scratch}/${name}`;
const content = (path) => Array.from(new Uint8Array(host.read(path)));

export async function partsOfFiles() {
  const path = at('a/b/model.part');
  equal(engine.fileSize(path), -1, 'no file');
  equal(engine.fileSize(plan.scratch), -1, 'a folder');
  await fails(() => engine.writePart(path, 1, bytes(1)), 'missing');
  equal(engine.fileSize(path), -1, 'still no file');
  await engine.writePart(path, 0, bytes(97, 120, 121));
  await engine.writePart(path, 1, bytes(98, 99));
  equal(content(path), [97, 98, 99], 'cut at the offset, then appended');
  equal(engine.fileSize(path), 3, 'its size');
  await fails(() => engine.writePart(path, 4, bytes(1)), 'missing');
  await engine.writePart(path, 3, bytes());
  const target = at('c/model.ort');
  await engine.finishPart(path, target, 3, ABC);
  equal([engine.fileSize(path), engine.fileSize(target)], [-1, 3], 'moved');
  await engine.writePart(path, 0, bytes(97, 98));
  await fails(() => engine.finishPart(path, target, 3, ABC), 'corrupted', '2 bytes, expected 3');
  equal([engine.fileSize(path), engine.fileSize(target)], [-1, 3], 'a wrong part is removed, what was there stays');
  await engine.writePart(path, 0, bytes(97, 98, 100));
  await fails(() => engine.finishPart(path, target, 3, ABC), 'corrupted', ABC);
  equal(engine.fileSize(path), -1, 'removed');
  await fails(() => engine.finishPart(path, target, 3, ABC), 'missing');
  await engine.removeFile(target);
  await engine.removeFile(target);
  equal(engine.fileSize(target), -1, 'removed');
  await fails(() => engine.writePart(at(''), 0, bytes(1)), 'unreadable');
  await fails(() => engine.writePart('/proc/no/such', 0, bytes(1)), 'missing');
}

export async function readsFiles() {
  const path = at('abc');
  host.write(path, bytes(97, 98, 99));
  const into = new Uint8Array(3);
  await engine.readFile(path, 0, into.buffer, ABC);
  equal(into, [97, 98, 99], 'what was read');
  const two = new Uint8Array(2);
  await engine.readFile(path, 1, two.buffer, '');
  equal(two, [98, 99], 'from an offset on');
  await fails(() => engine.readFile(path, 0, into.buffer, NONE), 'corrupted', ABC);
  await fails(() => engine.readFile(path, 0, into.buffer, 'no digest'), 'bad-input');
  await fails(() => engine.readFile(path, 1, into.buffer, ''), 'unreadable', 'early');
  await fails(() => engine.readFile(at('none'), 0, into.buffer, ''), 'missing');
  await fails(() => engine.readFile(plan.scratch, 0, into.buffer, ''), 'unreadable');
  await fails(() => engine.readFile(path, -1, into.buffer, ''), 'bad-input');
  await fails(() => engine.readFile(path, 0.5, into.buffer, ''), 'bad-input');
}

export async function foldersOfDigests() {
  const digest = (letter) => letter.repeat(64);
  const folder = (name) => engine.writePart(at(`cache/${name}/file`), 0, bytes(1));
  const has = (name) => engine.fileSize(at(`cache/${name}/file`)) === 1;
  const names = [`${digest('a')}-old`, `${digest('b')}-kept`, `${digest('c')}-new`, digest('d'), `${digest('g')}-x`, 'other'];
  for (const name of names) await folder(name);
  await engine.writePart(at(`cache/${digest('e')}-file.part`), 0, bytes(1));
  await engine.makeFolder(at(`cache/${names[2]}`), [names[1]]);
  equal(names.map(has), [false, true, true, true, true, true], 'what is left');
  equal(engine.fileSize(at(`cache/${digest('e')}-file.part`)), -1, 'a file of a digest goes too');
  await engine.makeFolder(at(`cache/${digest('f')}-deep/`), [names[1], names[2]]);
  equal(names.map(has), [false, true, true, true, true, true], 'a slash at the end changes nothing');
}

export async function wrongLayouts() {
  const { session, inputs, outputs } = await open(plan.everyType);
  equal(inputs.map((each) => each.type).slice(0, 3), ['float32', 'float64', 'float16'], 'types');
  const size = { float32: 4, float64: 8, float16: 2, int8: 1, int16: 2, int32: 4, int64: 8, uint8: 1, bool: 1, string: 0 };
  const make = () => {
    const buffers = [];
    const layout = [];
    for (const each of inputs) {
      const shape = each.shape.map((length) => (length < 0 ? 2 : length));
      const count = shape.reduce((product, length) => product * length, 1) * size[each.type];
      buffers.push(new ArrayBuffer(count));
      layout.push(0, count, shape.length, ...shape);
    }
    for (const _ of outputs) {
      buffers.push(new ArrayBuffer(0));
      layout.push(0, -1, 0);
    }
    return { buffers, layout, texts: [['a', 'b', 'c', 'd', 'e', 'f']] };
  };
  const call = ({ buffers, layout, texts }) => engine.runSync(session, buffers, layout, texts);
  const ran = call(make());
  const good = await engine.run(session, 1, make().buffers, make().layout, make().texts, false);
  equal(good.shapes, ran.shapes, 'shapes');
  engine.drop(ran.kept);
  const changed = (change) => {
    const made = make();
    change(made);
    return made;
  };
  const wrong = {
    'a buffer too few': (each) => void each.buffers.pop(),
    'a buffer too many': (each) => void each.buffers.push(new ArrayBuffer(8)),
    'numbers missing': (each) => void each.layout.pop(),
    'numbers left over': (each) => void each.layout.push(0),
    'no numbers': (each) => void (each.layout = []),
    'a negative offset': (each) => void (each.layout[0] = -4),
    'an offset beyond': (each) => void (each.layout[0] = 1e15),
    'an offset past the end': (each) => void (each.layout[0] = 4),
    'an offset that wraps': (each) => void (each.layout[0] = 2 ** 53),
    'a fraction': (each) => void (each.layout[0] = 0.5),
    'not a number': (each) => void (each.layout[0] = NaN),
    'a length too long': (each) => void (each.layout[1] = 28),
    'a length too short': (each) => void (each.layout[1] = 20),
    'a negative length': (each) => void (each.layout[1] = -1),
    'an endless length': (each) => void (each.layout[1] = Infinity),
    'an endless rank': (each) => void (each.layout[2] = 1e9),
    'a negative rank': (each) => void (each.layout[2] = -1),
    'a negative size': (each) => void (each.layout[3] = -2),
    'sizes that overflow': (each) => {
      each.layout[3] = 2 ** 52;
      each.layout[4] = 2 ** 52;
    },
    'sizes that wrap to the right number': (each) => {
      each.layout[3] = 2 ** 33 + 1;
      each.layout[4] = 2 ** 32;
    },
    'an uneven start': (each) => {
      each.buffers[0] = new ArrayBuffer(32);
      each.layout[0] = 2;
    },
    'a detached buffer': (each) => void each.buffers[0].transfer?.(),
    'strings missing': (each) => void (each.texts = []),
    'too few strings': (each) => void each.texts[0].pop(),
    'strings for nothing': (each) => void each.texts.push(['x']),
  };
  for (const [name, change] of Object.entries(wrong)) {
    if (name === 'a detached buffer' && ArrayBuffer.prototype.transfer === undefined) continue;
    await fails(() => call(changed(change)), 'bad-input').catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
    await fails(async () => {
      const { buffers, layout, texts } = changed(change);
      await engine.run(session, 1, buffers, layout, texts, false);
    }, 'bad-input');
  }
  const strings = outputs.findIndex((each) => each.type === 'string');
  const stringTarget = changed(({ buffers, layout }) => {
    const place = layout.length - 3 * (outputs.length - strings);
    layout[place + 1] = 0;
    void buffers;
  });
  await fails(() => call(stringTarget), 'bad-input', 'strings');
  const kept = call(make());
  await fails(() => engine.take(kept.kept, 99, new ArrayBuffer(24)), 'bad-input');
  await fails(() => engine.take(kept.kept, -1, new ArrayBuffer(24)), 'bad-input');
  await fails(() => engine.take(kept.kept, 0, new ArrayBuffer(20)), 'bad-input', '24 bytes');
  await fails(() => engine.take(kept.kept, strings, new ArrayBuffer(0)), 'bad-input');
  engine.take(kept.kept, 0, new ArrayBuffer(24));
  engine.drop(kept.kept);
  engine.drop(kept.kept);
  await fails(() => engine.take(kept.kept, 0, new ArrayBuffer(24)), 'bad-input');
  const later_ = await engine.run(session, 2, ...Object.values(make()), false);
  engine.close(session);
  engine.take(later_.kept, 0, new ArrayBuffer(24));
  engine.drop(later_.kept);
  await fails(() => call(make()), 'disposed');
  engine.close(session);
  engine.close(12345);
  engine.cancel(777);
}

export async function wrongRequests() {
  const file = part(plan.everyType);
  const bad = async (words, more, model = null, code = 'bad-input') => {
    await fails(() => engine.open(request(file, more), model), code).catch((error) => {
      throw new Error(`${words}: ${error.message}`);
    });
  };
  await bad('threads', { threads: 257 });
  await bad('threads', { threads: NaN });
  await bad('settings', { settingKeys: ['a'], settingValues: [] });
  await bad('keys', { provider: 'XNNPACK', providerKeys: ['a'], providerValues: [] });
  await bad('a provider that nobody knows', { provider: 'Nonsense' }, null, 'runtime');
  await bad('NNAPI where there is none', { provider: 'NNAPI' }, null, 'runtime');
  await bad('a setting that NNAPI has not', { provider: 'NNAPI', providerKeys: ['NO'], providerValues: ['1'] });
  await bad('an offset', { file: { ...file, offset: -1 } });
  await bad('a size', { file: { ...file, size: -2 } });
  await bad('a size beyond', { file: { ...file, size: 1e9 } }, null, 'corrupted');
  await bad('an offset beyond', { file: { ...file, offset: 1e9 } }, null, 'corrupted');
  await bad('no file', { file: part('/nowhere') }, null, 'missing');
  await bad('a folder', { file: part(plan.scratch) }, null, 'unreadable');
  await bad('a way to verify', { verify: 'never' });
  await bad('a digest', { file: { ...file, sha256: NONE } }, null, 'corrupted');
  await bad('a buffer that is too short', { file: { ...file, offset: 50 } }, new ArrayBuffer(10));
  await bad('a buffer that is no model', {}, new ArrayBuffer(64), 'runtime');
  const whole = host.read(plan.everyType);
  const format = (name) => ({ settingKeys: ['session.load_model_format'], settingValues: [name] });
  await bad('a buffer whose settings are kept', format('ORT'), whole, 'runtime');
  engine.close((await engine.open(request(file, format('ONNX')), whole)).session);
  await bad('an empty file', { file: { ...file, size: 0 } }, null, 'runtime');
  await later(50);
  const before = host.threads();
  const fail = () => bad('no file', { file: part('/nowhere') }, null, 'missing');
  for (let index = 0; index < 20; index += 1) await fail();
  const words = () => `threads that failed to open end: ${before}, then ${host.threads()}`;
  await until(() => host.threads() <= before + 1, words, fail);
}

/** Opens a file and its weights, `plan.verify` says how they are checked: what is wrong, or nothing. */
export async function opens() {
  const { inputs, notes, verify } = plan;
  try {
    engine.close((await engine.open(request(inputs.file, { weights: inputs.weights, notes, verify }), null)).session);
    return '';
  } catch (error) {
    return error.message;
  }
}

/** Two files whose bytes follow others, as in an app's package; weights lie in the second. */
export async function placesInAnotherFile() {
  const { inputs } = plan;
  const opened = await engine.open(request(inputs.file, { weights: inputs.weights, notes: plan.notes }), null);
  equal(opened.sizeBytes, inputs.sizeBytes, 'size of model and weights');
  const target = new Float32Array(4);
  const input = new Float32Array([1, 2, 3, 4]);
  engine.runSync(opened.session, [input.buffer, target.buffer], [0, 16, 2, 1, 4, 0, 16, 2, 1, 4], []);
  engine.close(opened.session);
  const [weights] = inputs.weights;
  const refuse = (more, code) => fails(() => engine.open(request(inputs.file, { weights: [{ ...weights, ...more }] }), null), code);
  await refuse({ name: 'another name' }, 'missing');
  await refuse({ size: weights.size - 1 }, 'corrupted');
  await refuse({ sha256: NONE }, 'corrupted');
  await refuse({ path: '/nowhere' }, 'missing');
  return target;
}
