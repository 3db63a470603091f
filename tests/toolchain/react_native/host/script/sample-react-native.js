// The components of `react-native` that the sample app draws, beside what packages take from it.

export * from './react-native.js';

export const [Image, Pressable, ScrollView, Text, View] = ['Image', 'Pressable', 'ScrollView', 'Text', 'View'];
export const StyleSheet = { create: (styles) => styles };
