"""Wire-compatible subsets of the kubelet's interfaces, generated from the .proto files beside them."""
