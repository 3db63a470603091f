// The sample app's screen with a picture, as somebody sees it who presses its button: `host sample.js PLAN`.

import './globals.js';
import { listen } from './listening.js';
import './network.js';
import { createElement } from 'react';
import { createRoot } from 'test-renderer';
import { Pictures } from 'sample/src/Pictures';

const BUTTON = 'Look for a newer model';
const POLL_MS = 5;
const root = createRoot({ textComponentTypes: ['Text'] });
root.render(createElement(Pictures));

const textOf = (node) => (typeof node === 'string' ? node : node.children.map(textOf).join(''));
const texts = (id) => root.container.queryAll(({ props }) => props.testID === id).map(textOf);

/** What is on the screen, once there is a class of the picture or a problem. */
async function look() {
  for (;;) {
    const [labels, [problem = ''], [update]] = [texts('label'), texts('problem'), texts('update')];
    if (labels.length > 0 || problem !== '') return { label: labels[0], problem, update };
    await new Promise((resolve) => void setTimeout(resolve, POLL_MS));
  }
}

/** What the app says once an update has come to an end. */
async function press() {
  const [button] = root.container.queryAll(({ props, children }) => props.role === 'button' && children.map(textOf).includes(BUTTON));
  button.props.onPress();
  for (;;) {
    const [update] = texts('update');
    if (/^(The next start|Model .* newest|failed|waiting)/.test(update)) return { update };
    await new Promise((resolve) => void setTimeout(resolve, POLL_MS));
  }
}

listen({ look, press });
