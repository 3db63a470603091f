/**
 * Runs ONNX Runtime's WebAssembly on ONNX's test cases: `node conformance_web.mjs PROGRAM FOLDER...`, where PROGRAM is
 * packager/engines/session/session_child.mjs. A FOLDER holds `inputs.npz` and `files.json`: form -> path and settings.
 * The outputs of a form go to the folder FORM, a .npy file each; a line of JSON is printed for each folder, as by
 * conformance_run.py.
 */

import { Console } from "node:console";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

globalThis.console = new Console(process.stderr);
const [, , program, ...folders] = process.argv;
const { Refusal, loaded, opened, runSample } = await import(pathToFileURL(program).href);
const ort = await loaded();
for (const folder of folders) {
  const errors = {};
  const files = JSON.parse(fs.readFileSync(path.join(folder, "files.json"), "utf8"));
  const sample = path.join(folder, "inputs.npz");
  for (const [form, { path: model, settings }] of Object.entries(files)) {
    const outputs = path.join(folder, form);
    fs.mkdirSync(outputs, { recursive: true });
    try {
      if (!fs.existsSync(sample)) throw new Refusal("JavaScript has no arrays for the inputs");
      const session = await opened(ort, { model, entries: settings, optimize: true });
      const words = await runSample(ort, session, { sample, folder: outputs });
      if (words) errors[form] = words;
      await session.release();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      errors[form] = error.message;
    }
  }
  fs.writeSync(1, JSON.stringify({ case: path.basename(folder), errors }) + "\n");
}
