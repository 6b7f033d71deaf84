#!/usr/bin/env -S python3 -B
"""Tests messages to many subscribers, and what happens to subscribers that do not read."""

import unittest

import server_under_test
from server_under_test import Server, parse, wait_until

SUBSCRIBERS = 1000


class PubSubTest(unittest.TestCase):
    def test_a_message_reaches_a_thousand_subscribers_in_order(self):
        server = Server(self)
        subscribers = [server.connect() for _ in range(SUBSCRIBERS)]
        for subscriber in subscribers:
            subscriber.send("SUBSCRIBE", "news")
        for subscriber in subscribers:
            self.assertEqual(subscriber.reply(), b"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n")
        publisher = server.connect()
        for i in range(10):
            self.assertEqual(publisher.call("PUBLISH", "news", i), b":1000\r\n")
        for subscriber in subscribers:
            for i in range(10):
                self.assertEqual(parse(subscriber.reply()), [b"message", b"news", b"%d" % i])
        # A subscriber whose connection ends is forgotten.
        for subscriber in subscribers[1:]:
            subscriber.close()
        wait_until(
            self,
            lambda: publisher.call("PUBLISH", "news", "x") == b":1\r\n",
            "closed connections are still subscribed",
        )
        server.stop()

    def test_a_subscriber_that_does_not_read_is_disconnected(self):
        server = Server(self, "--output_limit=1000000")
        idle = server.connect(receive_buffer=4096)
        idle.call("SUBSCRIBE", "news")
        reader = server.connect()
        reader.call("SUBSCRIBE", "news")
        publisher = server.connect()
        message = b"m" * 100000
        # The buffers of the system take a part, and do not count.
        for _ in range(1000):
            count = parse(publisher.call("PUBLISH", "news", message))
            if count == 1:
                break
            self.assertEqual(parse(reader.reply()), [b"message", b"news", message])
        else:
            self.fail("the subscriber is not disconnected")
        self.assertEqual(parse(reader.reply()), [b"message", b"news", message])
        if not server.is_redis:
            self.assertLess(server.memory(), 300 << 20)
        # What the subscriber has missed is never sent: it finds the end.
        self.assertLess(len(idle.read_to_end()), 100 << 20)
        server.stop()


if __name__ == "__main__":
    server_under_test.main()
