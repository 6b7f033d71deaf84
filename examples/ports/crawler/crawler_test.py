#!/usr/bin/env -S python3 -B
"""Tests the crawler with servers of Python's http.server. The first argument is the crawler."""

import http.server
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
from server import DEADLINE, LOCALHOST

_SUMMARY = re.compile(
    r"crawler: (\d+) pages with (\d+) bytes, (\d+) failed, (\d+) links to known pages, "
    r"(\d+) links not followed, (\d+) pages left\n"
)

_crawler = None


def page(*links):
    return "<html>" + "".join(f'<a href="{link}">x</a>' for link in links) + "</html>"


class Traffic:
    """Counts the requests that are in progress, and holds requests back until a number is reached."""

    def __init__(self, hold_for=0):
        self.changed = threading.Condition()
        self.now = {}
        self.most = 0
        self.most_of_host = 0
        self.is_open = hold_for == 0
        self._hold_for = hold_for

    def begin(self, port):
        with self.changed:
            self.now[port] = self.now.get(port, 0) + 1
            total = sum(self.now.values())
            self.most = max(self.most, total)
            self.most_of_host = max(self.most_of_host, self.now[port])
            if total == self._hold_for:
                self.is_open = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.is_open, DEADLINE)

    def end(self, port):
        with self.changed:
            self.now[port] -= 1

    def open(self):
        with self.changed:
            self.is_open = True
            self.changed.notify_all()

    def wait_for_requests(self, count):
        with self.changed:
            return self.changed.wait_for(lambda: sum(self.now.values()) >= count, DEADLINE)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server.site
        with site.lock:
            site.requests.append(self.path)
        if self.path in site.counted:
            site.traffic.begin(site.port)
            # Before the answer, with which the crawler can begin the next request.
            site.traffic.end(site.port)
        try:
            self._answer(site.answer(self.path))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the crawler has given up

    def _answer(self, answer):
        status, headers, body = answer
        data = body.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if headers.get("Transfer-Encoding") == "chunked":
            self.end_headers()
            for i in range(0, len(data), 7):
                part = data[i : i + 7]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        elif headers.get("Connection") == "close":
            self.end_headers()
            self.wfile.write(data)
        else:
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *arguments):
        pass


class Site:
    """A server. `pages` has the text, or status, headers and text, of each path."""

    def __init__(self, test, pages, traffic=None, counted=()):
        self.pages = pages
        self.traffic = traffic
        self.counted = frozenset(counted)
        self.lock = threading.Lock()
        self.requests = []
        self._server = http.server.ThreadingHTTPServer((LOCALHOST, 0), Handler)
        self._server.daemon_threads = True
        self._server.site = self
        self.port = self._server.server_address[1]
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        test.addCleanup(self._server.server_close)
        test.addCleanup(self._server.shutdown)
        if traffic is not None:
            test.addCleanup(traffic.open)

    def answer(self, path):
        found = self.pages(path) if callable(self.pages) else self.pages.get(path)
        if found is None:
            return 404, {"Content-Type": "text/html"}, page("/not-followed")
        if isinstance(found, str):
            return 200, {"Content-Type": "text/html; charset=utf-8"}, found
        return found

    def url(self, path="/"):
        return f"http://{LOCALHOST}:{self.port}{path}"


class CrawlerTest(unittest.TestCase):
    def start(self, *arguments):
        process = subprocess.Popen(
            [_crawler, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, status=0):
        """Returns the lines, the numbers of the summary, and the errors."""
        output, errors = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, status, errors)
        lines = output.splitlines(keepends=True)
        summary = _SUMMARY.fullmatch(lines[-1]) if lines else None
        numbers = tuple(int(number) for number in summary.groups()) if summary else None
        return lines[:-1], numbers, errors

    def crawl(self, *arguments, status=0):
        return self.finish(self.start(*arguments), status)

    def test_follows_each_link_once(self):
        home = page("a", "/a#part", "dir/b?x=1&amp;y=2", "http://other.invalid/", "mailto:a@b", "/")
        site = Site(
            self,
            {
                "/": home,
                "/a": page("/dir/b?x=1&y=2", "/moved", "/gone", "/picture"),
                "/dir/b?x=1&y=2": page("../a", "./c"),
                "/dir/c": page(),
                "/moved": (302, {"Location": "dir/c", "Content-Type": "text/html"}, page("/ignored")),
                "/picture": (200, {"Content-Type": "image/png"}, page("/ignored")),
            },
        )
        lines, numbers, errors = self.crawl(site.url())
        self.assertEqual(errors, "")
        self.assertEqual(
            sorted(site.requests),
            ["/", "/a", "/dir/b?x=1&y=2", "/dir/c", "/gone", "/moved", "/picture"],
        )
        self.assertEqual(len(lines), 7, lines)
        self.assertIn(f"{site.url()}: 200, {len(home)} bytes\n", lines)
        self.assertRegex("".join(lines), re.escape(site.url("/gone")) + ": 404, ")
        pages, size, failed, known, not_followed, left = numbers
        self.assertEqual((pages, failed, known, not_followed, left), (6, 1, 5, 2, 0))
        self.assertEqual(
            size, sum(len(site.answer(path)[2]) for path in site.requests if path != "/gone")
        )

    def test_bodies_of_each_kind(self):
        html = {"Content-Type": "text/html"}
        site = Site(
            self,
            {
                "/": (200, {**html, "Transfer-Encoding": "chunked"}, page("/to-the-end")),
                "/to-the-end": (200, {**html, "Connection": "close"}, page("/length")),
                "/length": page(),
            },
        )
        _, numbers, _ = self.crawl(site.url())
        self.assertEqual(numbers[0], 3)
        self.assertEqual(site.requests, ["/", "/to-the-end", "/length"])

    def test_limits_of_concurrency(self):
        # The servers hold the requests back until as many as allowed are in progress.
        traffic = Traffic(hold_for=5)
        paths = [f"/{i}" for i in range(10)]
        pages = {"/": page(*paths), **{path: page() for path in paths}}
        sites = [Site(self, pages, traffic, paths) for _ in range(3)]
        _, numbers, _ = self.crawl(
            "--concurrency=5", "--per_host=2", *(site.url() for site in sites)
        )
        self.assertEqual(numbers[0], 33)
        self.assertEqual((traffic.most, traffic.most_of_host), (5, 2))

    def test_a_slow_host_does_not_delay_the_others(self):
        traffic = Traffic(hold_for=1000)
        slow_paths = [f"/{i}" for i in range(10)]
        slow = Site(self, {"/": page(*slow_paths)}, traffic, slow_paths)
        paths = [f"/{i}" for i in range(50)]
        quick = Site(self, {"/": page(*paths), **{path: page() for path in paths}})
        process = self.start("--concurrency=3", "--per_host=2", slow.url(), quick.url())
        done = 0
        while done < 52:  # all except for the pages that are held back
            line = process.stdout.readline()
            self.assertRegex(line, ": 200, ")
            done += 1
        traffic.open()
        _, numbers, _ = self.finish(process)
        self.assertEqual((numbers[0], numbers[2], numbers[5]), (52, 10, 0))

    def test_a_page_that_does_not_answer(self):
        traffic = Traffic(hold_for=1000)
        site = Site(self, {}, traffic, ["/"])
        lines, numbers, errors = self.crawl("--timeout=100ms", site.url(), status=1)
        self.assertEqual((len(lines), numbers), (1, (0, 0, 1, 0, 0, 0)))
        self.assertIn(f"{site.url()}: DEADLINE_EXCEEDED", lines[0])
        self.assertIn("no page could be fetched", errors)

    def test_the_deadline_ends_the_crawl(self):
        traffic = Traffic(hold_for=1000)
        site = Site(self, {}, traffic, ["/"])
        lines, numbers, errors = self.crawl("--deadline=100ms", site.url(), status=1)
        self.assertEqual((lines, numbers), ([], (0, 0, 0, 0, 0, 1)))
        self.assertIn("no page could be fetched", errors)

    def test_a_signal_ends_the_crawl_with_a_summary(self):
        traffic = Traffic(hold_for=1000)
        paths = [f"/{i}" for i in range(5)]
        site = Site(self, {"/": page(*paths)}, traffic, paths)
        process = self.start("--per_host=2", site.url())
        self.assertTrue(traffic.wait_for_requests(2))
        process.send_signal(signal.SIGINT)
        lines, numbers, errors = self.finish(process)
        self.assertEqual((len(lines), numbers[0], numbers[5], errors), (1, 1, 5, ""))

    def test_limits_of_an_endless_site(self):
        site = Site(self, lambda path: page(f"/{int(path[1:] or 0) + 1}"))
        _, numbers, _ = self.crawl("--max_pages=5", site.url())
        self.assertEqual((numbers[0], numbers[5]), (5, 1))
        _, numbers, _ = self.crawl("--max_depth=3", site.url())
        self.assertEqual((numbers[0], numbers[4], numbers[5]), (4, 1, 0))

    def test_pages_that_fail(self):
        with socket.create_server((LOCALHOST, 0)) as closed:
            port = closed.getsockname()[1]
        site = Site(self, {"/": page("/large"), "/large": "x" * 2000})
        lines, numbers, _ = self.crawl(
            "--max_body=1000", site.url(), f"http://{LOCALHOST}:{port}/"
        )
        self.assertEqual((numbers[0], numbers[2]), (1, 2))
        self.assertIn(f"{site.url('/large')}: RESOURCE_EXHAUSTED", "".join(lines))
        self.assertIn(f"http://{LOCALHOST}:{port}/: ", "".join(lines))

    def test_flags_are_checked(self):
        for arguments, words in (
            ((), "name a page"),
            (("https://example.org/",), "'https://example.org/'"),
            (("--concurrency=0", "http://127.0.0.1/"), "--concurrency is 0"),
            (("--per_host=0", "http://127.0.0.1/"), "--per_host is 0"),
        ):
            with self.subTest(arguments):
                lines, _, errors = self.crawl(*arguments, status=1)
                self.assertIn(words, errors)
                self.assertEqual((lines, errors.count("\n")), ([], 1))


if __name__ == "__main__":
    _crawler = sys.argv.pop(1)
    unittest.main(verbosity=2)
