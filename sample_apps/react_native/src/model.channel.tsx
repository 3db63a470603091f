// The model for pictures: the newest that a channel has brought and that was tried here, else that of the app's own package.

import { useEffect, useState, type ReactElement } from 'react';
import { Pressable, StyleSheet, Text, View } from 'react-native';
import { ModelUpdater, useClassifier, type Classifier, type ModelState, type UpdateState } from 'react-native-vision';

import { colours } from './styles';

const updater = new ModelUpdater(process.env.EXPO_PUBLIC_CHANNEL ?? '');

/** The model, as soon as it is there. */
export function useModel(): ModelState<Classifier> {
  return useClassifier({ source: updater.source });
}

/** A button that looks for a newer model than `model`, and what came of it. */
export function Updates({ model }: { readonly model: Classifier | null }): ReactElement {
  const [{ classifier }, setStates] = useState(updater.states);
  useEffect(() => updater.subscribe(setStates), []);
  return (
    <View style={styles.updates}>
      <Pressable role="button" onPress={() => void updater.update({ force: true })}>
        <Text style={styles.action}>Look for a newer model</Text>
      </Pressable>
      <Text testID="update" style={styles.state}>
        {classifier && wordsOf(classifier, model)}
      </Text>
    </View>
  );
}

function wordsOf({ phase, version, reason }: UpdateState, model: Classifier | null): string {
  if (phase === 'unchecked') return model === null ? '' : `Model ${model.info.version}`;
  if (phase === 'ready') return `The next start opens model ${version}.`;
  if (phase === 'up-to-date') return `Model ${version} is the newest.`;
  return reason === '' ? phase : `${phase}: ${reason}`;
}

const styles = StyleSheet.create({
  updates: { alignItems: 'center', gap: 8 },
  action: { fontSize: 16, fontWeight: '600', color: colours.accent },
  state: { color: colours.quiet, textAlign: 'center' },
});
