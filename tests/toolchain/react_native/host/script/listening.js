// Follows commands: they come as files NUMBER.command in the plan's folder for messages, and each answer is a line of JSON.

import { TurboModuleRegistry } from './react-native.js';

/** Has the functions in `commands` called by their names, with the words after these. */
export function listen(commands) {
  const engine = TurboModuleRegistry.plain(plan.module ?? 'ModelsCxx');

  async function follow(line) {
    const [name, ...words] = line.trim().split(/ +/);
    try {
      return (await commands[name](...words)) ?? {};
    } catch (error) {
      return { error: error.code ?? error.name, message: error.message };
    }
  }

  async function next(number) {
    const path = `${plan.mail}/${number}.command`;
    if (engine.fileSize(path) < 0) {
      setTimeout(() => void next(number), 2);
      return;
    }
    const line = host.readText(path);
    if (line === 'quit') {
      host.exit(0);
      return;
    }
    console.log(`ANSWER ${JSON.stringify(await follow(line))}`);
    void next(number + 1);
  }

  void next(1);
}
