"""What the collectors cost as they are rendered, beside the same program without processors, outside of any cluster."""
