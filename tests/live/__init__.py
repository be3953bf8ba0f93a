"""Live tests: the whole product on an embedded cluster of its own state. Run by `make test`, in the order written."""
