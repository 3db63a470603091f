"""Silero VAD on a page, and in Python."""

import numpy as np
import onnxruntime

from tests.toolchain import models

FRAMES = 576
"""of a block"""
SOUND = "const { recordingFrom, soundBlocks } = await import('/vision/lib/sound.js');"
HEAR = f"""
{SOUND}
const model = await SileroVad.load();
const answers = [];
for (const block of [0, 1, 2]) {{
  const buffer = new AudioBuffer({{ length: {FRAMES}, sampleRate: 16000 }});
  const ramp = (index) => ((index * 37) % 201 - 100) / 128;
  const samples = Float32Array.from({{ length: {FRAMES} }}, (_, index) => ramp(block * {FRAMES} + index));
  buffer.copyToChannel(samples, 0);
  const {{ output }} = await model.predict(await recordingFrom(buffer), BigInt64Array.of(16000n));
  answers.push(output.data[0]);
}}
return answers;
"""
"""the body of a function: its answers to three blocks of a ramp, one after the other"""


def heard(blocks: int = 3) -> list[float]:
    """The same answers in Python."""
    session = onnxruntime.InferenceSession(models.silero_vad())
    ramp = np.array([((index * 37) % 201 - 100) / 128 for index in range(blocks * FRAMES)], np.float32)
    state, answers = np.zeros((2, 1, 128), np.float32), []
    for block in ramp.reshape(blocks, 1, FRAMES):
        answer, state = session.run(None, {"input": block, "state": state, "sr": np.array(16000)})
        answers.append(float(answer[0, 0]))
    return answers
