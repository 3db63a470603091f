// The notes that are nearest in meaning to what somebody types.

import { useState, type ReactElement } from 'react';
import { ScrollView, StyleSheet, Text, TextInput, View } from 'react-native';

import type { Found } from './noteSearch';
import { colours, shared } from './styles';
import { useNotes } from './useNotes';

export function Notes(): ReactElement {
  const [query, setQuery] = useState('');
  const { found, state, problem } = useNotes(query);
  return (
    <ScrollView contentContainerStyle={shared.page} keyboardShouldPersistTaps="handled">
      <Text role="heading" style={shared.heading}>
        Which note was it?
      </Text>
      <TextInput
        aria-label="Search by meaning"
        placeholder="Search by meaning"
        placeholderTextColor={colours.quiet}
        clearButtonMode="while-editing"
        value={query}
        onChangeText={setQuery}
        style={styles.query}
      />
      {found.map((each) => (
        <Row key={each.note.title} {...each} />
      ))}
      <Text testID="state" style={styles.state}>
        {state}
      </Text>
      <Text testID="problem" style={shared.problem}>
        {problem}
      </Text>
    </ScrollView>
  );
}

function Row({ note, score }: Found): ReactElement {
  return (
    <View style={styles.note}>
      <View style={shared.row}>
        <Text testID="label" style={[shared.label, styles.title]}>
          {note.title}
        </Text>
        <Text testID="score" style={shared.score}>
          {score.toFixed(2)}
        </Text>
      </View>
      <Text style={styles.text}>{note.text}</Text>
    </View>
  );
}

const styles = StyleSheet.create({
  query: { padding: 14, borderRadius: 12, fontSize: 17, color: colours.text, backgroundColor: colours.track },
  note: { gap: 4 },
  title: { fontWeight: '600' },
  text: { fontSize: 15, color: colours.text },
  state: { color: colours.quiet },
});
