// XMLHttpRequest as React Native has it. The network is the process that started this one: tests/toolchain/react_native/network.py.

import { TurboModuleRegistry } from './react-native.js';

const engine = TurboModuleRegistry.plain(plan.module ?? 'ModelsCxx');
const POLL_MS = 2;
let last = 0;

const pathOf = (name) => `${plan.mail}/${name}`;
const isThere = (name) => engine.fileSize(pathOf(name)) >= 0;

globalThis.XMLHttpRequest = class {
  readyState = 0;
  status = 0;
  responseURL = '';
  response = null;
  headers = {};
  isAborted = false;
  loaded = 0;

  open(method, url) {
    this.request = { method, url, headers: {} };
  }

  setRequestHeader(name, value) {
    this.request.headers[name] = value;
  }

  getResponseHeader(name) {
    const found = Object.entries(this.headers).find(([key]) => key.toLowerCase() === name.toLowerCase());
    return found === undefined ? null : found[1];
  }

  send() {
    last += 1;
    this.number = last;
    console.log(`FETCH ${JSON.stringify({ number: this.number, ...this.request })}`);
    this.poll();
  }

  abort() {
    this.isAborted = true;
    if (this.number !== undefined) console.log(`ABORT ${this.number}`);
  }

  poll() {
    if (this.isAborted) return;
    if (this.readyState < 2 && isThere(`${this.number}.head`)) this.begin();
    const size = this.readyState < 2 ? 0 : engine.fileSize(pathOf(`${this.number}.body`));
    if (size > this.loaded) {
      this.loaded = size;
      this.onprogress?.({ loaded: size });
    }
    if (isThere(`${this.number}.end`)) this.end();
    else setTimeout(() => this.poll(), POLL_MS);
  }

  begin() {
    const { status, headers, url } = JSON.parse(host.readText(pathOf(`${this.number}.head`)));
    Object.assign(this, { status, headers, responseURL: url, readyState: 2 });
    this.onreadystatechange?.();
  }

  end() {
    if (this.isAborted) return;
    if (this.readyState < 2 && isThere(`${this.number}.head`)) this.begin();
    const error = host.readText(pathOf(`${this.number}.end`));
    if (error !== '') {
      this.onerror?.(new Error(error));
      return;
    }
    this.response = host.read(pathOf(`${this.number}.body`));
    this.readyState = 4;
    this.onreadystatechange?.();
    this.onload?.();
  }
};
