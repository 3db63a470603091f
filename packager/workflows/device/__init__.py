"""`mobpack device`: lists devices, and tests, compares and times there what ships."""
