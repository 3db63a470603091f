// Addresses of assets, as the engine of Flutter has them.

import 'dart:ui_web';

/// Where the engine finds an asset.
String addressOf(String asset) => assetManager.getAssetUrl(asset);
