"""The program that draws charts, run by `drawing` in a process of its own.

It reads ["svg" or "png", [what to draw, …]] as JSON and prints "made" or "error" of each.
"""

import base64
import json
import sys

import vl_convert

if __name__ == "__main__":
    kind, given = json.load(sys.stdin)
    made = []
    for each in given:
        try:
            if kind == "svg":
                made.append({"made": vl_convert.vegalite_to_svg(each, allowed_base_urls=[])})
            else:
                png = vl_convert.svg_to_png(each, scale=2)
                made.append({"made": base64.b64encode(png).decode()})
        except Exception as error:  # one chart that cannot be drawn stops no other
            made.append({"error": str(error)})
    json.dump(made, sys.stdout)
