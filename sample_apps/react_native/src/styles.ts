// How both screens look.

import { StyleSheet } from 'react-native';

export const colours = {
  text: '#10202f',
  quiet: '#55697d',
  track: '#e3e8ee',
  accent: '#1666c5',
  onAccent: '#ffffff',
  problem: '#b3261e',
} as const;

export const shared = StyleSheet.create({
  page: { padding: 24, gap: 20, maxWidth: 480, width: '100%', alignSelf: 'center' },
  heading: { fontSize: 26, fontWeight: '700', color: colours.text },
  row: { flexDirection: 'row', justifyContent: 'space-between', gap: 12 },
  label: { flexShrink: 1, fontSize: 17, color: colours.text },
  score: { fontSize: 17, color: colours.quiet, fontVariant: ['tabular-nums'] },
  problem: { color: colours.problem },
});
