// Addresses of assets in a page that no engine of Flutter runs.

/// Where `flutter build web` puts an asset.
String addressOf(String asset) => 'assets/$asset';
