// A picture or the camera, and what the model sees in it.

import { useEffect, useState, type ReactElement } from 'react';
import { Image, Pressable, ScrollView, StyleSheet, Text, View } from 'react-native';
import type { Classification } from 'react-native-vision';

import { ownPicture, pickedPicture, type Chosen } from './chosen';
import { Live } from './Live';
import { Updates, useModel } from './model';
import { colours, shared } from './styles';
import { useClasses, type Seen } from './useClasses';

const NOTHING: Seen = { classes: [], problem: '' };

export function Pictures(): ReactElement {
  const { model, error } = useModel();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [trouble, setTrouble] = useState('');
  const still = useClasses(model, chosen);
  const [isOn, setOn] = useState(false);
  const [seen, setSeen] = useState(NOTHING); // may come once more after the camera was stopped
  const { classes, problem } = isOn ? seen : still;

  const choose = (next: Promise<Chosen | null>): void => {
    next.then(
      (picture) => {
        if (picture !== null) setChosen(picture);
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
    <ScrollView contentContainerStyle={shared.page}>
      <Text role="heading" style={shared.heading}>
        What is in the picture?
      </Text>
      <View style={styles.frame}>
        {isOn && <Live model={model} onSeen={setSeen} />}
        {!isOn && chosen && <Image source={{ uri: chosen.uri }} style={styles.picture} resizeMode="cover" />}
      </View>
      <View style={styles.classes}>
        {classes.map((each) => (
          <Row key={each.index} {...each} />
        ))}
      </View>
      <Text testID="problem" style={shared.problem}>
        {error?.message ?? (problem || trouble)}
      </Text>
      <View style={styles.buttons}>
        <Pressable
          role="button"
          style={styles.button}
          onPress={() => {
            setOn(false);
            choose(pickedPicture());
          }}
        >
          <Text style={styles.action}>Choose a picture</Text>
        </Pressable>
        <Pressable
          role="button"
          style={styles.button}
          onPress={() => {
            setSeen(NOTHING);
            setOn((now) => !now);
          }}
        >
          <Text style={styles.action}>{isOn ? 'Stop the camera' : 'Use the camera'}</Text>
        </Pressable>
      </View>
      <Updates model={model} />
    </ScrollView>
  );
}

function Row({ label, score }: Classification): ReactElement {
  return (
    <View>
      <View style={shared.row}>
        <Text testID="label" style={shared.label}>
          {label}
        </Text>
        <Text testID="score" style={shared.score}>
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
  frame: { aspectRatio: 3 / 2, borderRadius: 16, overflow: 'hidden', backgroundColor: colours.track },
  picture: { width: '100%', height: '100%' },
  classes: { gap: 12, minHeight: 210 },
  track: { height: 6, borderRadius: 3, marginTop: 5, backgroundColor: colours.track, overflow: 'hidden' },
  bar: { height: 6, borderRadius: 3, backgroundColor: colours.accent },
  buttons: { flexDirection: 'row', gap: 12 },
  button: { flex: 1, padding: 16, borderRadius: 12, backgroundColor: colours.accent, alignItems: 'center' },
  action: { fontSize: 16, fontWeight: '600', color: colours.onAccent },
});
