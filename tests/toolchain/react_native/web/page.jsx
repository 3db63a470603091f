// A page of an app for React Native, in a browser: which way up is a picture?
import { StrictMode, useState } from 'react';
import { AppRegistry, Pressable, StyleSheet, Text, View } from 'react-native';
import * as ort from 'onnxruntime-web/wasm';
import { useOrientationModel } from 'react-native-page-orientation';
import { setOnnxRuntime } from 'react-native-page-orientation/onnxruntime';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = { wasm: '/runtime.wasm' };
setOnnxRuntime(ort, { models: '/models/' });

const ANGLES = ['0°', '90°', '180°', '270°'];
/** For the test: every share of the model that was there when the page was drawn. */
globalThis.shares = [];

function share(progress) {
  return progress === null ? 0 : progress.loadedBytes / progress.totalBytes;
}

async function pixels() {
  const answer = await fetch('/pixels');
  return new Float32Array(await answer.arrayBuffer());
}

function Page() {
  const { state, model, error, progress } = useOrientationModel();
  const [scores, setScores] = useState(null);
  globalThis.shares.push(share(progress));
  const run = async () => {
    const { fetchName0 } = await model.run({ x: await pixels() });
    globalThis.scores = [...fetchName0.data];
    setScores(globalThis.scores);
  };
  const test = async () => {
    globalThis.report = await model.selfTest();
  };
  return (
    <View style={styles.page}>
      <Text role="heading" style={styles.heading}>Page orientation</Text>
      <Text testID="state">{state === 'error' ? `error ${error.code}: ${error.message}` : state}</Text>
      <View style={styles.track}>
        <View style={[styles.bar, { width: `${100 * share(progress)}%` }]} />
      </View>
      <Pressable testID="run" role="button" disabled={model === null} onPress={run} style={[styles.button, model === null && styles.off]}>
        <Text style={styles.label}>Which way up?</Text>
      </Pressable>
      <Pressable testID="test" role="button" disabled={model === null} onPress={test} style={[styles.button, model === null && styles.off]}>
        <Text style={styles.label}>Self test</Text>
      </Pressable>
      {scores?.map((score, index) => (
        <Text key={ANGLES[index]} testID="score">{`${ANGLES[index]}: ${(100 * score).toFixed(1)} %`}</Text>
      ))}
    </View>
  );
}

const styles = StyleSheet.create({
  page: { padding: 24, gap: 12, maxWidth: 480 },
  heading: { fontSize: 24, fontWeight: '600' },
  track: { height: 8, borderRadius: 4, backgroundColor: '#d8dee6', overflow: 'hidden' },
  bar: { height: 8, backgroundColor: '#1666c5' },
  button: { padding: 12, borderRadius: 8, backgroundColor: '#1666c5', alignItems: 'center' },
  off: { opacity: 0.4 },
  label: { color: '#ffffff', fontWeight: '600' },
});

AppRegistry.registerComponent('Page', () => () => (
  <StrictMode>
    <Page />
  </StrictMode>
));
AppRegistry.runApplication('Page', { rootTag: document.getElementById('root') });
