// One screen: a picture, and what the model sees in it.

import { useEffect, useState, type ReactElement } from 'react';
import { Image, Pressable, ScrollView, StyleSheet, Text, View } from 'react-native';
import { useClassifier, type Classification } from 'react-native-vision';

import { LiveCamera, hasCamera } from './LiveCamera';
import { ownPicture, pickedPicture } from './chosen';
import { prepareRuntime } from './onnxruntime';
import { useClasses } from './useClasses';

export function App(): ReactElement {
  const [isPrepared, setPrepared] = useState(false);
  useEffect(() => {
    void prepareRuntime().then(() => {
      setPrepared(true);
    });
  }, []);
  return isPrepared ? <Screen /> : <View />;
}

function Screen(): ReactElement {
  const { model, error } = useClassifier();
  const [chosen, setChosen] = useState<string | null>(null);
  const [trouble, setTrouble] = useState('');
  const [seen, setSeen] = useState<readonly Classification[]>([]);
  const [isLive, setLive] = useState(false);
  const { classes, problem } = useClasses(model, isLive ? null : chosen);

  const choose = (next: Promise<string | null>): void => {
    next.then(
      (picture) => {
        if (picture === null) return;
        setLive(false);
        setChosen(picture);
      },
      (reason: unknown) => {
        setTrouble(String(reason));
      },
    );
  };
  useEffect(() => {
    choose(ownPicture());
  }, []);

  return (
    <ScrollView contentContainerStyle={styles.page}>
      <Text role="heading" style={styles.heading}>
        What is in the picture?
      </Text>
      <View style={styles.frame}>
        {chosen !== null && !isLive && <Image source={{ uri: chosen }} style={styles.picture} resizeMode="cover" />}
        {model !== null && isLive && <LiveCamera model={model} onClasses={setSeen} onProblem={setTrouble} />}
      </View>
      <View style={styles.classes}>
        {(isLive ? seen : classes).map((each) => (
          <Row key={each.index} {...each} />
        ))}
      </View>
      <Text testID="problem" style={styles.problem}>
        {error?.message ?? (problem || trouble)}
      </Text>
      <Pressable
        role="button"
        style={styles.button}
        onPress={() => {
          choose(pickedPicture());
        }}
      >
        <Text style={styles.action}>Choose a picture</Text>
      </Pressable>
      {hasCamera && (
        <Pressable
          role="button"
          style={styles.button}
          onPress={() => {
            setSeen([]);
            setTrouble('');
            setLive(!isLive);
          }}
        >
          <Text style={styles.action}>{isLive ? 'Stop the camera' : 'Use the camera'}</Text>
        </Pressable>
      )}
    </ScrollView>
  );
}

function Row({ label, score }: Classification): ReactElement {
  return (
    <View>
      <View style={styles.row}>
        <Text testID="label" style={styles.label}>
          {label}
        </Text>
        <Text testID="score" style={styles.score}>
          {`${(100 * score).toFixed(1)} %`}
        </Text>
      </View>
      <View style={styles.track}>
        <View style={[styles.bar, { width: `${100 * score}%` }]} />
      </View>
    </View>
  );
}

const styles = StyleSheet.create({
  page: { padding: 24, paddingTop: 56, gap: 20, maxWidth: 480, width: '100%', alignSelf: 'center' },
  heading: { fontSize: 26, fontWeight: '700', color: '#10202f' },
  frame: { aspectRatio: 3 / 2, borderRadius: 16, overflow: 'hidden', backgroundColor: '#e3e8ee' },
  picture: { width: '100%', height: '100%' },
  classes: { gap: 12, minHeight: 210 },
  row: { flexDirection: 'row', justifyContent: 'space-between', gap: 12 },
  label: { flexShrink: 1, fontSize: 17, color: '#10202f' },
  score: { fontSize: 17, color: '#55697d', fontVariant: ['tabular-nums'] },
  track: { height: 6, borderRadius: 3, marginTop: 5, backgroundColor: '#e3e8ee', overflow: 'hidden' },
  bar: { height: 6, borderRadius: 3, backgroundColor: '#1666c5' },
  problem: { color: '#b3261e' },
  button: { padding: 16, borderRadius: 12, backgroundColor: '#1666c5', alignItems: 'center' },
  action: { fontSize: 17, fontWeight: '600', color: '#ffffff' },
});
