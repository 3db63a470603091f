// Asks each model what the table of benchmarks/results/contract_table.md asks, in JavaScript: apps of React Native and pages have the same API.

const CLASSES = 1000;
/** Each 37th byte of a picture, which is of red, green, blue and alpha in turn, is told. */
const EACH = 37;

function picture(line, read) {
  const [width, height, rowBytes, orientation, left, top, right, bottom, number] = line.slice(3).map(Number);
  const region = { left, top, right, bottom };
  const conversion = ['bt601-full', 'bt601-video', 'bt709-full', 'bt709-video'][number];
  return { data: read(line[0]), width, height, format: line[2].toLowerCase(), rowBytes, orientation, region, conversion };
}

function lines(read, name) {
  const text = String.fromCharCode(...new Uint8Array(read(name)));
  return text.trim().split('\n').map((line) => line.split(' '));
}

/** A stream of a line of the file `streams`: rate, channels, and how many frames each push has. */
async function pushed(listener, voice, [rate, channels, ...cuts]) {
  const stream = listener.stream();
  const reading = collected(stream);
  let start = 0;
  for (const cut of cuts) {
    stream.push({ samples: voice.slice(start, start + cut * channels), rate, channels });
    start += cut * channels;
    if (cut % 3 === 0) await null;
  }
  stream.flush();
  const found = await reading;
  // The stream is as good as new.
  stream.reset();
  stream.push({ samples: voice.slice(0, start), rate, channels });
  stream.flush();
  const again = await collected(stream);
  stream.close();
  if (JSON.stringify(again) !== JSON.stringify(found)) throw new Error('another sound after reset');
  return found;
}

async function collected(stream) {
  const found = [];
  for await (const { result, start, end, dropped } of stream.results) {
    found.push({ words: `${start}-${end}+${dropped}`, number: result[0].score });
  }
  return found;
}

/** A queue of half a second that nobody reads. */
async function overflown(listener, voice) {
  const stream = listener.stream({ queueMs: 500, overflow: 'drop-oldest' });
  for (let start = 0; start < 24000; start += 1000) stream.push({ samples: voice.slice(start, start + 1000), rate: 16000 });
  stream.flush();
  return collected(stream);
}

/** What is wrong, by a word of the error's. */
function misused(listener, voice) {
  const samples = voice.slice(0, 1000);
  const calls = {
    began: (stream) => stream.push({ samples, rate: 8000 }),
    channels: (stream) => stream.push({ samples, rate: 16000, channels: 2 }),
    finite: (stream) => stream.push({ samples: Float32Array.of(0, NaN), rate: 16000 }),
    full: (stream) => stream.push({ samples: voice.slice(0, 20000), rate: 16000 }),
    flushed: (stream) => (stream.flush(), stream.push({ samples, rate: 16000 })),
    closed: (stream) => (stream.close(), stream.push({ samples, rate: 16000 })),
    least: () => listener.stream({ queueMs: 0 }),
    takes: () => listener.stream({ queueMs: 20 }).push({ samples, rate: 16000 }),
  };
  return Object.entries(calls).map(([word, call]) => {
    const stream = listener.stream({ queueMs: 1000 });
    stream.push({ samples, rate: 16000 });
    try {
      call(stream);
    } catch ({ message }) {
      return message.includes(word) || message.includes('from 1 on') ? word : message;
    }
    return 'nothing';
  });
}

/** The answers by the names of the cases; `read` gives an ArrayBuffer with a file of them. */
export async function answers(models, { window, rate }, read) {
  const options = { threads: 1 };
  const found = {};
  const answer = (name, words, numbers) => {
    found[name] = { words, numbers };
  };
  const classifier = await models.Classifier.load(options);
  const finder = await models.Finder.load(options);
  const scribe = await models.ScribeModel.load(options);
  const poser = await models.Poser.load(options);
  const spotter = await models.Spotter.load(options);
  const makers = { cutter: await models.Cutter.load(options), enlarger: await models.Enlarger.load(options) };
  for (const line of lines(read, 'cases')) {
    const [name, model] = line;
    if (model === 'classifier') {
      const classes = await classifier.classify(picture(line, read), { top: CLASSES });
      const scores = [...classes].sort((one, other) => one.index - other.index).map((each) => each.score);
      answer(name, classes.slice(0, 3).map((each) => each.label).join('|'), scores);
    } else if (model === 'finder') {
      const boxes = await finder.detect(picture(line, read));
      const numbers = boxes.flatMap(({ box, score }) => [box.left, box.top, box.right, box.bottom, score]);
      answer(name, `${boxes.length}`, numbers);
    } else if (model === 'poser') {
      const points = await poser.locate(picture(line, read));
      answer(name, points.map(({ label }) => label).join(', '), points.flatMap(({ x, y, score }) => [x, y, score]));
    } else if (model === 'spotter') {
      const found = await spotter.segment(picture(line, read));
      const numbers = found.flatMap(({ box, score, mask: { left, top, width, height, places } }) => {
        const pixels = places.filter((each) => each === 1).length;
        return [box.left, box.top, box.right, box.bottom, score, left, top, width, height, pixels / width];
      });
      answer(name, `${found.length} objects`, numbers);
    } else if (model in makers) {
      const { width, height, data } = await makers[model].render(picture(line, read));
      answer(name, `${width} x ${height} pixels`, [...data].filter((_, place) => place % EACH === 0));
    } else {
      const reading = await scribe.read(picture(line, read));
      answer(name, reading.text, [reading.score]);
    }
  }
  const meaning = await models.Meaning.load(options);
  const tokens = await models.Tokens.load(options);
  for (const [name, model, ...units] of lines(read, 'texts')) {
    const text = String.fromCharCode(...units.map(Number));
    if (model === 'meaning') answer(name, '', [...(await meaning.embed(text))]);
    else answer(name, '', [...(await tokens.predict(text)).ids.data].map(Number));
  }
  const listener = await models.ListenerModel.load(options);
  const voice = new Float32Array(read('voice'));
  const scores = [];
  for (let start = 0; start < voice.length; start += window) {
    const [heard] = await listener.classify({ samples: voice.subarray(start, start + window), rate });
    scores.push(heard.score);
  }
  answer('voice', '', scores);
  const streams = lines(read, 'streams').map((line) => line.map(Number));
  const pieces = await Promise.all(streams.map((line) => pushed(listener, voice, line)));
  const all = [...pieces.flat(), ...(await overflown(listener, voice))];
  const words = [...all.map((each) => each.words), ...misused(listener, voice)].join(' ');
  answer('streamed', words, all.map(({ number }) => number));
  const tone = await models.Tone.load(options);
  const { series, units } = await tone.estimate({ samples: voice, rate });
  const names = Object.keys(series).sort();
  answer('tone', names.map((each) => `${each} ${units[each]}`).join(' '), names.flatMap((each) => [...series[each]]));
  const cleaner = await models.Cleaner.load(options);
  const noisy = new Float32Array(read('noisy'));
  const cleaned = [];
  for (let start = 0; start < noisy.length; start += 512) {
    cleaned.push(await cleaner.render({ samples: noisy.subarray(start, start + 512), rate }));
  }
  answer('cleaned', `${cleaned[0].rate} ${cleaned[0].channels}`, cleaned.flatMap(({ samples }) => [...samples]));
  const pictures = [classifier, finder, scribe, poser, ...Object.values(makers)];
  for (const each of [...pictures, meaning, tokens, listener, tone, cleaner]) each.dispose();
  return found;
}
