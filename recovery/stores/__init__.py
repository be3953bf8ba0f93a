"""What can be taken and restored, one package or module for each kind of store."""
