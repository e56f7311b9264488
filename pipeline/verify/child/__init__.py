"""What runs in the process that imports torch: samples of an operator. Nothing here imports the rest of gradmill."""
