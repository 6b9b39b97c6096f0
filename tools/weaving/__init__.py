"""What the commands of tools/ share: reading result files, and the parts that weave.py writes."""
