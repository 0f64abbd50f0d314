"""A line between two network namespaces: passes packets between two TUN devices after a delay.

Not every kernel has netem. Usage: link.py DEVICE PEER; each line on standard input is the one-way delay in
milliseconds, or "cut": packets are lost.
"""
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
PACKET_MAX = 65_536
QUEUE_MAX = 100_000


def open_tun(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN_NO_PI))
    return device


ends = [open_tun(name) for name in sys.argv[1:3]]
other = {ends[0]: ends[1], ends[1]: ends[0]}
waiting = deque()
delay = 0.0
print("ready", flush=True)

while True:
    timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    readable, _, _ = select.select([*ends, sys.stdin], [], [], timeout)
    if sys.stdin in readable:
        line = sys.stdin.readline().strip()
        if line == "":
            break
        delay = None if line == "cut" else float(line) / 1_000
    for end in readable:
        if end is not sys.stdin:
            packet = os.read(end, PACKET_MAX)
            if delay is not None and len(waiting) < QUEUE_MAX:
                waiting.append((time.monotonic() + delay, other[end], packet))
    while waiting and waiting[0][0] <= time.monotonic():
        _, to, packet = waiting.popleft()
        try:
            os.write(to, packet)
        except OSError:
            pass  # The device is down or its queue is full: the packet is lost.
