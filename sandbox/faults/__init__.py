"""A proxy before HTTP and S3 servers that refuses on request: what networks, proxies and overloaded stores do.

In process, `sandbox.faults.proxy.faulty` is a context manager. As a program, `python -m sandbox.faults --upstream URL
--rules FILE`. `sandbox.faults.rules` says what a rule is. A client reaches the proxy as the server itself (its address
in place of the server's), or as an HTTP proxy (`http_proxy`), which is how signed addresses of an object store are
caught: they hold the store's own host, and a signature covers it.
"""
