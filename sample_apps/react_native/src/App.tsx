// Two screens: what is in a picture, and notes found by meaning.

import { useEffect, useState, type ReactElement } from 'react';
import { Pressable, StyleSheet, Text, View } from 'react-native';

import { Notes } from './Notes';
import { prepareRuntime } from './onnxruntime';
import { Pictures } from './Pictures';
import { colours } from './styles';

const SCREENS = { Pictures, Notes } as const;
type Name = keyof typeof SCREENS;
const NAMES: readonly Name[] = ['Pictures', 'Notes'];

export function App(): ReactElement {
  const [isPrepared, setPrepared] = useState(false);
  useEffect(() => {
    void prepareRuntime().then(() => {
      setPrepared(true);
    });
  }, []);
  return isPrepared ? <Screens /> : <View />;
}

function Screens(): ReactElement {
  const [shown, setShown] = useState<Name>('Pictures');
  const Screen = SCREENS[shown];
  return (
    <View style={styles.app}>
      <View role="tablist" style={styles.tabs}>
        {NAMES.map((name) => (
          <Pressable
            key={name}
            role="tab"
            aria-selected={name === shown}
            style={[styles.tab, name === shown && styles.selected]}
            onPress={() => {
              setShown(name);
            }}
          >
            <Text style={name === shown ? styles.selectedName : styles.name}>{name}</Text>
          </Pressable>
        ))}
      </View>
      <Screen />
    </View>
  );
}

const styles = StyleSheet.create({
  app: { flex: 1 },
  tabs: { flexDirection: 'row', justifyContent: 'center', paddingTop: 48, gap: 24 },
  tab: { paddingVertical: 8, borderBottomWidth: 2, borderColor: 'transparent' },
  selected: { borderColor: colours.accent },
  name: { fontSize: 16, color: colours.quiet },
  selectedName: { fontSize: 16, fontWeight: '600', color: colours.accent },
});
