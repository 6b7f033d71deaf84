"""Runs the echo server for the tests in this folder."""

import pathlib
import select
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, main, receive


class Server(server.Server):
    """A running echo server. The totals are the numbers of connections and of echoed bytes."""

    totals = r"echo: served (\d+) connections, echoed (\d+) bytes"


def echo(connection, message):
    """Sends a message. Returns as many bytes of the answer, or fewer if the connection ends."""
    connection.sendall(message)
    return receive(connection, len(message))


def is_readable(connection):
    return bool(select.select([connection], [], [], 0)[0])


def wait_for_close(connection):
    """Waits until the peer has closed or reset the connection. Returns the time."""
    connection.settimeout(DEADLINE)
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic()
