"""A client of the pretended server: it says that it is alive until it is ended. $1 is the server, $2 the file with what it is."""

import http.client
import json
import signal
import sys
import time
import urllib.parse

EVERY = 0.3
# As long as this it may be silent.
TTL_MS = 3000
# A server that does not answer for so long will not any more.
GIVES_UP = 60

server = urllib.parse.urlsplit(sys.argv[1]).netloc
with open(sys.argv[2]) as file:
    node = json.load(file)


def say(ttl_ms):
    connection = http.client.HTTPConnection(server, timeout=5)
    body = json.dumps({**node, "ttl_ms": ttl_ms})
    connection.request("PUT", "/v1/fake/heartbeat", body)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    node["id"] = answer["ID"]


def end(*_):
    # What runs on it ends with it. Where nobody hears that, it ends all the same: another server may get that port.
    try:
        say(0)
    finally:
        sys.exit(0)


signal.signal(signal.SIGTERM, end)
heard = time.monotonic()
while time.monotonic() - heard < GIVES_UP:
    try:
        say(TTL_MS)
        heard = time.monotonic()
    except (OSError, http.client.HTTPException, ValueError):
        pass
    time.sleep(EVERY)
