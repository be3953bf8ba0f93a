"""What a restore point costs beside the tools that every store comes with, outside of any cluster."""
