"""Programs that run models: their isolated environments, the children that open models there, and one face for all."""
