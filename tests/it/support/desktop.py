"""A desktop for tests: owns org.freedesktop.Notifications on the session bus and writes every Notify call down, a JSON line each.

It speaks the wire protocol itself, so that it needs nothing but Python. With "silent" as its second argument it answers nothing.
"""

import json
import os
import socket
import struct
import sys

NAME = "org.freedesktop.Notifications"
PATH, INTERFACE, MEMBER, REPLY_TO, DESTINATION, SENDER, SIGNATURE = 1, 2, 3, 5, 6, 7, 8


class Reader:
    def __init__(self, data, order="<"):
        self.data, self.at, self.order = data, 0, order

    def number(self, code, size):
        self.at += -self.at % size
        (value,) = struct.unpack_from(self.order + code, self.data, self.at)
        self.at += size
        return value

    def text(self, length):
        value = self.data[self.at : self.at + length].decode()
        self.at += length + 1
        return value

    def read(self, signature):
        kind = signature.pop(0)
        if kind in "so":
            return self.text(self.number("I", 4))
        if kind == "g":
            return self.text(self.number("B", 1))
        if kind == "v":
            return self.read(list(self.text(self.number("B", 1))))
        if kind == "y":
            return self.number("B", 1)
        if kind in "iub":
            return self.number("i" if kind == "i" else "I", 4)
        if kind in "xt":
            return self.number("q", 8)
        if kind == "d":
            return self.number("d", 8)
        if kind in "({":
            self.at += -self.at % 8
            parts = []
            while signature[0] not in ")}":
                parts.append(self.read(signature))
            signature.pop(0)
            return parts
        if kind == "a":
            end = self.number("I", 4)
            if signature[0] in "({xtd":
                self.at += -self.at % 8
            end, values, element = end + self.at, [], list(signature)
            while self.at < end:
                element = list(signature)
                values.append(self.read(element))
            if not values:
                skip(element)
            del signature[: len(signature) - len(element)]
            return values
        raise ValueError(kind)


def skip(signature):
    kind = signature.pop(0)
    if kind == "a":
        skip(signature)
    elif kind in "({":
        while signature[0] not in ")}":
            skip(signature)
        signature.pop(0)


def padded(data, size):
    return data + b"\0" * (-len(data) % size)


def text(value):
    return struct.pack("<I", len(value.encode())) + value.encode() + b"\0"


class Bus:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.serial, self.held = 0, b""
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        while b"\r\n" not in self.held:
            self.held += self.socket.recv(4096)
        assert self.held.startswith(b"OK"), self.held
        self.held = b""
        self.socket.sendall(b"BEGIN\r\n")

    def send(self, kind, fields, signature, body):
        self.serial += 1
        if signature:
            fields = fields + [(SIGNATURE, "g", signature)]
        packed = b""
        for code, of, value in fields:
            packed = padded(packed, 8) + bytes([code, 1]) + of.encode() + b"\0"
            if of == "g":
                packed += bytes([len(value)]) + value.encode() + b"\0"
            else:
                packed = padded(packed, 4) + (struct.pack("<I", value) if of == "u" else text(value))
        head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), self.serial, len(packed))
        self.socket.sendall(padded(head + packed, 8) + body)

    def call(self, member, signature="", body=b""):
        bus = "org.freedesktop.DBus"
        path = "/org/freedesktop/DBus"
        self.send(1, [(PATH, "o", path), (INTERFACE, "s", bus), (MEMBER, "s", member), (DESTINATION, "s", bus)], signature, body)

    def exactly(self, length):
        while len(self.held) < length:
            more = self.socket.recv(65536)
            if not more:
                sys.exit()
            self.held += more
        taken, self.held = self.held[:length], self.held[length:]
        return taken

    def receive(self):
        head = self.exactly(16)
        order = "<" if head[:1] == b"l" else ">"
        length, serial, fields = struct.unpack_from(order + "III", head, 4)
        rest = self.exactly(fields + -(16 + fields) % 8)
        reader = Reader(head + rest, order)
        reader.at = 12
        fields = dict(reader.read(list("a(yv)")))
        return head[1], serial, fields, Reader(self.exactly(length), order)


def main():
    calls, manner = sys.argv[1], sys.argv[2:]
    bus = Bus(os.environ["DBUS_SESSION_BUS_ADDRESS"].split("path=")[1].split(",")[0])
    bus.call("Hello")
    bus.call("RequestName", "su", padded(text(NAME), 4) + struct.pack("<I", 0))
    while True:
        kind, serial, fields, body = bus.receive()
        if kind == 2 and fields.get(REPLY_TO) == 2:
            open(calls, "a").close()
        if kind != 1 or fields.get(INTERFACE) != NAME:
            continue
        signature, values = list(fields.get(SIGNATURE, "")), []
        while signature:
            values.append(body.read(signature))
        with open(calls, "a") as file:
            file.write(json.dumps([fields[MEMBER], *values]) + "\n")
        if not manner:
            reply = [(REPLY_TO, "u", serial), (DESTINATION, "s", fields[SENDER])]
            bus.send(2, reply, "u", struct.pack("<I", 1))


main()
