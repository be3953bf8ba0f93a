"""The process `house`: takes what the SDKs log, and gives it back.

What is logged goes to the delivery buffer and is acknowledged when the buffer has it on disk; it can be read some
seconds later. What is read comes from ClickHouse. Whose run it is, says PostgreSQL. Routes and bodies: the SDKs
0.7.20 to 0.10.3.
"""

from sandbox.swanlab_server.house.program import app

__all__ = ["app"]
