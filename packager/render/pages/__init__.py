"""The parts that HTML pages of reports share: tiles, facts, bars, layers and the formats of numbers."""
