"""Many projects on many workers: what a fleet is, its graph of tasks, the cluster that runs them, and its report."""
