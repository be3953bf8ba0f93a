"""The run that stands for training."""
