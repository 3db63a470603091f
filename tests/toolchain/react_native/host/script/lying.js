// XNNPACK of an app that lies, between the package's JavaScript and its C++: the CPU computes for it.

/** How it lies, and how often it was opened. */
export const lies = { behaviour: '', opened: 0 };

const CPU_SECONDS = 0.25;
const forever = () => new Promise(() => undefined);
const providers = new Map();

globalThis.watch = (module) =>
  new Proxy(module, {
    get: (target, name) => {
      if (name === 'hasProvider') return () => true;
      if (name === 'open') return (request, model) => open(target, request, model);
      return name === 'run' ? (...given) => run(target, ...given) : target[name];
    },
  });

async function open(module, request, model) {
  if (request.provider === '') return module.open(request, model);
  const { behaviour } = lies;
  lies.opened += 1;
  if (behaviour === 'no device') throw new Error('[runtime] there is no device');
  if (behaviour === 'refuse at load') throw new Error('[runtime] the liar does not want to start');
  const opened = await module.open({ ...request, provider: '', providerKeys: [], providerValues: [] }, model);
  providers.set(opened.session, { behaviour, runs: 0, inputs: opened.inputs.length });
  const nodes = behaviour === 'few nodes' ? 1 : 2;
  const own = { provider: 'XnnpackExecutionProvider', nodes, macs: nodes, macNodes: nodes };
  return { ...opened, assignment: [own, { provider: '', nodes: 0, macs: 0, macNodes: 0 }] };
}

async function run(module, session, call, buffers, layout, ...rest) {
  const liar = providers.get(session);
  if (liar === undefined) return { ...(await module.run(session, call, buffers, layout, ...rest)), duration: CPU_SECONDS };
  liar.runs += 1;
  if (liar.behaviour === 'hang') await forever();
  if (liar.behaviour === 'crash in the third run' && liar.runs === 3) host.exit(9);
  const ran = await module.run(session, call, buffers, layout, ...rest);
  if (liar.behaviour === 'wrong by 1 %') spoil(buffers, layout, liar.inputs);
  return { ...ran, duration: CPU_SECONDS * (liar.behaviour === 'ten times slower' ? 10 : 0.5) };
}

/** Multiplies outputs where they lie. */
function spoil(buffers, layout, inputs) {
  let at = 0;
  buffers.forEach((buffer, index) => {
    const [offset, size, rank] = layout.slice(at, at + 3);
    at += 3 + rank;
    if (index < inputs || size < 0) return;
    const values = new Float32Array(buffer, offset, size / 4);
    values.forEach((value, each) => (values[each] = value * 1.01));
  });
}
