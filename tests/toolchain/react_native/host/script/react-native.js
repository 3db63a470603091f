// What a package takes from `react-native`, of the host: its registry of modules, and which platform this is.

/** Says where the files of an Android app lie, as the package's class in Kotlin does. */
const android = {
  isHot: () => globalThis.plan.isHot ?? false,
  device: () => ({ chip: globalThis.plan.chip ?? '', apiLevel: 34, folder: globalThis.plan.cache }),
  locate: (asset) => {
    const place = globalThis.plan.places[asset];
    return place === undefined ? Promise.reject(new Error(`[missing] no asset ${asset}`)) : Promise.resolve(place);
  },
  decode: (uri, maxSize) => {
    const { error, ...decoded } = globalThis.plan.decoded;
    if (uri !== globalThis.plan.uri || maxSize !== (globalThis.plan.options?.maxSize ?? 0)) throw new Error('changed');
    return error === undefined ? Promise.resolve(decoded) : Promise.reject(new Error(error));
  },
  deviceState: () => globalThis.plan.device ?? { unmetered: -1, charging: -1 },
  isSigned: (key, message, signature) =>
    globalThis.__turboModuleProxy(globalThis.plan.module ?? 'ModelsCxx').isSigned(key, message, signature),
};

export const TurboModuleRegistry = {
  get: (name) => {
    if (name.endsWith('FilesAndroid')) return globalThis.plan.os === 'android' ? android : null;
    const module = TurboModuleRegistry.plain(name);
    return globalThis.watch === undefined ? module : globalThis.watch(module);
  },
  /** The module itself, where a test looks at what others call. */
  plain: (name) => globalThis.__turboModuleProxy(name),
};

/** Warnings that memory is short, and whether somebody sees the app: a case says so. */
export const AppState = {
  currentState: 'active',
  listeners: new Set(),
  watchers: new Set(),
  addEventListener: (type, listener) => {
    const listeners = { memoryWarning: AppState.listeners, change: AppState.watchers }[type];
    if (listeners === undefined) throw new Error(`nobody here tells of ${type}`);
    listeners.add(listener);
    return { remove: () => void listeners.delete(listener) };
  },
  become: (state) => {
    AppState.currentState = state;
    for (const listener of [...AppState.watchers]) listener(state);
  },
  warn: () => {
    for (const listener of [...AppState.listeners]) listener();
  },
};

/** Android's warnings come as events. */
export const DeviceEventEmitter = {
  addListener: (name, listener) => {
    if (!name.endsWith('MemoryPressure')) throw new Error(`nobody here tells of ${name}`);
    return AppState.addEventListener('memoryWarning', listener);
  },
};

export const Platform = {
  get OS() {
    return globalThis.plan.os;
  },
  Version: 34,
  constants: { Fingerprint: 'google/panther/panther:14/UP1A' },
};
