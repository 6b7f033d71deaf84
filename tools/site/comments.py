"""Turns a comment of a header into Markdown.

A comment is prose in Markdown's manner, with three differences: examples and tables are indented by two
columns or more, a comment can begin with the name that it describes, and REQUIRES: begins a paragraph.
"""

import re

# "Mutex", "Channel()" or "Sender, UnboundedSender", above the contract.
TITLE_NAME = r"~?[A-Za-z]\w*(?:::~?\w+)*(?:\([\w, ]*\))?"
TITLE = re.compile(f"{TITLE_NAME}(?:, {TITLE_NAME})*")
# Lines that are for tools.
FOR_TOOLS = re.compile(r"NOLINT|clang-format o|IWYU pragma")
ITEM = re.compile(r"(?:[*-]|\d+\.) ")


def prose(comment):
    """Returns the lines of a comment without the title and without lines that are for tools."""
    lines = [line for line in comment if not FOR_TOOLS.match(line)]
    if lines and not any(lines[1:2]) and TITLE.fullmatch(lines[0]):
        lines = lines[2:]
    return lines


def markdown(comment):
    """Returns a comment as Markdown."""
    result = []
    in_list = False
    in_code = False
    for line in prose(comment):
        indented = line.startswith("  ")
        if not line:
            result.append("")
            continue
        in_list = bool(ITEM.match(line)) or (in_list and indented)
        if indented and not in_list:
            if not in_code:
                result.append("")
            in_code = True
            result.append("  " + line)
            continue
        if in_code or line.startswith("REQUIRES:"):
            result.append("")
        in_code = False
        result.append(line)
    return "\n".join(result).strip("\n")


def summary(comment):
    """Returns the first sentence of a comment, or what stands before the first example."""
    lines = []
    for line in prose(comment):
        if not line or line.startswith("  "):
            break
        lines.append(line)
    text = " ".join(lines)
    found = re.match(r".*?[.:](?=\s+[A-Z`(]|$)", text)
    return (found[0] if found else text).rstrip(":")


def plain_summary(comment):
    """Returns the first sentence without its Markdown."""
    return summary(comment).replace("`", "")
