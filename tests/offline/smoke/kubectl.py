"""A stand-in for kubectl: a program that forwards a port, or answers an exec."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Forwards by copying bytes between a listener and the address in the file `target`; ends like the real one does.
SCRIPT = """#!{python}
import pathlib, socket, sys, threading
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if "exec" in sys.argv:
    words = {{"PG_VERSION": "postgres", "redis-server": "redis", "%/status": "clickhouse"}}
    told = [here / ("exec-" + name) for word, name in words.items() if word in sys.argv[-1]]
    asked = [path for path in told if path.exists()] or [here / "exec"]
    sys.stdout.write(asked[0].read_text())
    sys.exit(0)
if (here / "refuse").exists():
    sys.exit("error: " + (here / "refuse").read_text())
own = here / ("target-" + (sys.argv[-2] + sys.argv[-1]).replace("/", "-").replace(":", "-"))
host, port = (own if own.exists() else here / "target").read_text().split(":")
listener = socket.create_server(("127.0.0.1", 0))
print(f"Forwarding from 127.0.0.1:{{listener.getsockname()[1]}} -> 9090", flush=True)
def copy(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.close()
while True:
    inner, _ = listener.accept()
    outer = socket.create_connection((host, int(port)))
    for end in (inner, outer):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for pair in ((inner, outer), (outer, inner)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""
EXEC = """status Name:\tprometheus
status Uid:\t65534\t65534\t65534\t65534
status CapEff:\t0000000000000000
status NoNewPrivs:\t1
status Seccomp:\t2
mount overlay / overlay ro,relatime 0 0
mount /dev/vda1 /prometheus ext4 rw,relatime 0 0
root / /
root /var/lib/volumes/pvc-1 /prometheus
token 640
writable /prometheus
log 3 /prometheus
free 8388608 /prometheus
end -
"""


def install(directory: Path, prometheus: str = "127.0.0.1:1") -> Path:
    """Put the program into a directory; `prometheus` is the address that it forwards to. Returns its path."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "kubectl"
    program.write_text(SCRIPT.format(python=sys.executable))
    program.chmod(0o755)
    (directory / "target").write_text(prometheus)
    (directory / "exec").write_text(EXEC)
    return program
