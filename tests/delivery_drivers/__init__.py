"""Programs that update their models, one in each language, as tests tell them to: a line in, a line of JSON out."""
