"""Turns a flowchart in mermaid's language into boxes of HTML, without mermaid.

Knows what docs/ uses: subgraphs, which become rows, nodes with a label, and arrows. A box names the boxes
to which its arrows point.
"""

import html
import re

ROW = re.compile(r'subgraph \w+\["(.*)"\]')
NODE = re.compile(r'(\w+)\["(.*)"\]')
ARROW = re.compile(r"(\w+) (?:-->|-- (.*) -->|-\. (.*) \.->) (\w+)")
LABEL = re.compile(r"<b>(.*?)</b><br/>(.*)")


def boxes(text):
    """Returns the HTML of a flowchart. Raises ValueError if the text has a line that is not known."""
    rows = []  # of (title, [(node, label)])
    arrows = {}
    for line in map(str.strip, text.splitlines()):
        if line in ("", "end") or line.startswith("flowchart"):
            continue
        if row := ROW.fullmatch(line):
            rows.append((row[1], []))
        elif (node := NODE.fullmatch(line)) and rows:
            rows[-1][1].append((node[1], node[2]))
        elif arrow := ARROW.fullmatch(line):
            source, solid, dotted, target = arrow.groups()
            label = solid or dotted
            arrows.setdefault(source, []).append(f"{target} ({label})" if label else target)
        else:
            raise ValueError(f"tools/site/diagram.py cannot draw the line {line!r} of a mermaid flowchart")
    result = ['<div class="diagram">']
    for title, nodes in rows:
        result.append(f'<div class="row"><span class="layer">{html.escape(title)}</span>')
        for node, label in nodes:
            found = LABEL.fullmatch(label)
            name, contents = found.groups() if found else (label, "")
            result.append(f'<div class="box"><b>{html.escape(name)}</b><span>{html.escape(contents)}</span>')
            if node in arrows:
                result.append(f'<span class="uses">uses {html.escape(", ".join(arrows[node]))}</span>')
            result.append("</div>")
        result.append("</div>")
    return "\n".join([*result, "</div>"])
