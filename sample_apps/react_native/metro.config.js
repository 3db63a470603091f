// With the address of a channel in EXPO_PUBLIC_CHANNEL, NAME.channel.tsx takes the place of NAME.tsx.

const { getDefaultConfig } = require('expo/metro-config');

const config = getDefaultConfig(__dirname);
if (process.env.EXPO_PUBLIC_CHANNEL) config.resolver.sourceExts.unshift('channel.tsx');

module.exports = config;
