// What React Native gives to every app, as far as packages use it.

class Signal {
  aborted = false;
  listeners = new Set();

  addEventListener(_type, listener) {
    this.listeners.add(listener);
  }

  removeEventListener(_type, listener) {
    this.listeners.delete(listener);
  }
}

globalThis.AbortController ??= class {
  signal = new Signal();

  abort() {
    this.signal.aborted = true;
    for (const listener of [...this.signal.listeners]) listener();
  }
};

globalThis.queueMicrotask ??= (task) => void Promise.resolve().then(task);

globalThis.plan = JSON.parse(host.readText(host.arguments[0]));
