"""moto's server, for tests: a pretended AWS on loopback. It says its port on standard output and ends with its input."""

import os
import sys

os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")

from moto.server import ThreadedMotoServer  # noqa: E402

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
