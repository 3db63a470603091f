"""Programs that update their models, one in each language, and that tests tell what to do: a line in, a line of JSON out."""
