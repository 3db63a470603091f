"""Times, memory and power: of one model in rounds, on devices and farms, over settings, and over many projects."""
