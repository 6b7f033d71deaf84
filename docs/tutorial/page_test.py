#!/usr/bin/env -S python3 -B
"""page_test.py PAGE BINARY FOLDER [PREVIOUS_FOLDER]: checks a page of the tutorial against its program.

*   Runs the commands of the page's "console" examples, and compares the output with the page.
    "$ bazel run //:kv" runs BINARY. A program that prints "listening on" is a server, which runs
    until the page shows "^C", or until the end of the page. An example that begins with "kv: " has
    the next lines of the server. "$ printf TEXT | nc -N ..." sends the text
    to the server, ends the direction, and expects what the server sends. Without "-N", the
    connection stays open, and an example without a command has the next replies. "$ echo $?" is the
    status of the program before. The port that the system chose stands for the page's port.
*   Checks that each "starlark" example is in the step's BUILD file.
*   Checks that a reader types at most 40 new lines, apart from comments and includes.
"""

import difflib
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import sys
import threading

MAX_NEW_LINES = 40
PORT = "6380"
# Generous, because it only ends a test that has failed.
DEADLINE = 60  # seconds

problems = []


def problem(text):
    problems.append(text)
    print(text, flush=True)


def without_task_number(line):
    return re.sub(r"\btask \d+", "task N", line)


def source_lines(folder):
    """Returns the lines that a reader types: neither comments nor includes, nor empty lines."""
    lines = []
    for path in sorted(folder.iterdir()):
        if path.suffix in (".cc", ".h"):
            for line in path.read_text(encoding="utf-8").splitlines():
                line = line.strip()
                if line and not line.startswith(("//", "#")):
                    lines.append(line)
    return lines


def check_new_lines(folder, previous):
    old = source_lines(previous) if previous else []
    diff = difflib.ndiff(old, source_lines(folder))
    new = [line for line in diff if line.startswith("+ ")]
    print(f"{folder}: {len(new)} new lines")
    if len(new) > MAX_NEW_LINES:
        problem(f"{folder}: {len(new)} new lines; a step has at most {MAX_NEW_LINES}")


def check_build_file(page, text, folder):
    def words(code):
        return " ".join(code.split())

    build = words((folder / "BUILD.bazel").read_text(encoding="utf-8"))
    for example in re.findall(r"^```starlark\n(.*?)^```", text, re.S | re.M):
        if "module(" in example or "bazel_dep(" in example or "workspace(" in example:
            continue  # of MODULE.bazel or WORKSPACE
        if words(example) not in build:
            problem(f"{page}: not in {folder}/BUILD.bazel; copy the lines:\n{example}")


class Program:
    """A running program, whose output is collected line by line."""

    def __init__(self, binary, arguments):
        self.lines = []
        # A terminal, because a program keeps its output for later if the output is a pipe.
        self._terminal, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [binary, *arguments], stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal
        )
        os.close(terminal)
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self):
        with open(self._terminal, encoding="utf-8") as output:
            while line := self._read_line(output):
                with self._changed:
                    self.lines.append(line.rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @staticmethod
    def _read_line(output):
        try:
            return output.readline()
        except OSError:  # No process has the terminal any more.
            return ""

    def wait_for_lines(self, count):
        """Returns the first lines, at most `count`, when the program has written them or has ended."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.lines) >= count or self._ended, DEADLINE)
            return self.lines[:count]

    def wait_for_end(self):
        with self._changed:
            if not self._changed.wait_for(lambda: self._ended, DEADLINE):
                self.process.kill()
                problem("the program has not ended")
        return self.process.wait()


class Page:
    """Performs the commands of a page."""

    def __init__(self, page, binary, folder):
        self.page = page
        self.binary = binary
        self.folder = folder
        self.server = None
        self.shown = 0  # how many of the server's lines the page has shown
        self.port = PORT
        self.status = 0
        self.can_panic = True
        self.connection = None
        self.replies = None

    def as_in_page(self, line):
        # The files of the page begin without the two lines of the license, and an empty line.
        line = re.sub(
            rf"{self.folder}/(\w+\.(?:cc|h)):(\d+)",
            lambda match: f"{match[1]}:{int(match[2]) - 3}",
            line,
        )
        return re.sub(rf"\b{self.port}\b", PORT, line)

    def run(self, arguments, expected):
        wants_server = bool(expected) and expected[0].startswith("listening on")
        if wants_server:
            self.stop()
            self.server = Program(self.binary, ["0"])
            lines = self.server.wait_for_lines(1)
            match = re.fullmatch(r"listening on .*:(\d+)", "".join(lines))
            self.port = match[1] if match else PORT
            self.shown = 1
            return lines
        if self.server and not arguments:
            arguments = [self.port]
        program = Program(self.binary, arguments)
        self.status = program.wait_for_end()
        if self.status == -signal.SIGABRT and any(
            line.startswith("rouse: ") for line in program.lines
        ):
            # A build without exceptions aborts at a panic.
            self.can_panic = False
        return program.lines

    def send(self, text, ends_input, expected):
        data = text.encode().decode("unicode_escape").encode()
        connection = socket.create_connection(("127.0.0.1", int(self.port)), DEADLINE)
        connection.sendall(data)
        replies = connection.makefile(encoding="utf-8")
        if not ends_input:
            # Both objects keep the connection open.
            self.connection = connection
            self.replies = replies
            return self.next_replies(expected)
        connection.shutdown(socket.SHUT_WR)
        with connection, replies:
            return replies.read().splitlines()

    def next_replies(self, expected):
        """Returns as many replies of the connection that is open as are expected."""
        return [self.replies.readline().rstrip("\n") for _ in expected]

    def perform(self, command, expected):
        if match := re.fullmatch(r"bazel run //:kv(?: -- (.*))?", command):
            return self.run((match[1] or "").split(), expected)
        if match := re.fullmatch(rf"printf '(.*)' \| nc (-N )?127.0.0.1 {PORT}", command):
            return self.send(match[1], match[2] is not None, expected)
        if command == "echo $?":
            return [str(self.status)]
        return None

    def check(self, command, expected, lines):
        got = [self.as_in_page(line) for line in lines]
        # The numbers of tasks depend on the threads.
        if len(got) == len(expected):
            got = [
                line if without_task_number(line) != without_task_number(shown) else shown
                for line, shown in zip(got, expected)
            ]
        if got != expected and self.can_panic:
            diff = "\n".join(difflib.unified_diff(expected, got, "page", "program", lineterm="", n=9))
            problem(f"{self.page}: {command}: the output is not the page's:\n{diff}")

    def interrupt(self, expected):
        if self.server is None:
            problem(f"{self.page}: ^C without a server")
            return
        self.server.process.send_signal(signal.SIGINT)
        self.status = self.server.wait_for_end()
        self.check("^C", expected, self.server.lines[self.shown :])
        self.server = None

    def stop(self):
        if self.server is not None:
            self.server.process.kill()
            self.server.wait_for_end()
            self.server = None

    def perform_all(self, text):
        performed = 0
        for example in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
            for block in re.split(r"^(?=\$ |\^C)", example, flags=re.M):
                if not block.strip():
                    continue
                performed += 1
                if self.server and block.startswith("kv: "):
                    expected = block.splitlines()
                    lines = self.server.wait_for_lines(self.shown + len(expected))
                    self.check("kv", expected, lines[self.shown :])
                    self.shown += len(expected)
                    continue
                if self.replies and not block.startswith(("$ ", "^C")):
                    expected = block.splitlines()
                    self.check("nc", expected, self.next_replies(expected))
                    continue
                command, *expected = block.splitlines()
                if command == "^C":
                    self.interrupt(expected)
                    continue
                command = command.removeprefix("$ ")
                lines = self.perform(command, expected)
                if lines is None:
                    problem(f"{self.page}: no way to perform: {command}")
                else:
                    self.check(command, expected, lines)
        self.stop()
        if performed == 0:
            problem(f"{self.page}: no console example found")
        print(f"{performed} commands")


def main():
    page, binary, *folders = sys.argv[1:]
    folder = pathlib.Path(folders[0])
    previous = pathlib.Path(folders[1]) if len(folders) > 1 else None
    text = pathlib.Path(page).read_text(encoding="utf-8")
    check_new_lines(folder, previous)
    check_build_file(page, text, folder)
    Page(page, binary, folder).perform_all(text)
    if problems:
        sys.exit(1)


if __name__ == "__main__":
    main()
