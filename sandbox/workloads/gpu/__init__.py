"""GPUs of a node, simulated: the device plugin, the exporter with incidents on request, and a fleet of more."""
