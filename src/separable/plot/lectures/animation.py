"""Frames as an animated GIF or as a page that plays them, without another program."""

from __future__ import annotations

import html
from base64 import b64encode
from io import BytesIO
from typing import Any

__all__ = ["gif_bytes", "page_text", "png_bytes"]

#: The last frame is seen this much longer than the others.
LAST = 4

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
  body {{ font-family: sans-serif; max-width: 48rem; margin: 1rem auto; text-align: center; }}
  img {{ max-width: 100%; display: block; margin: 0 auto 0.5rem; }}
  input {{ width: 60%; vertical-align: middle; }}
  button {{ min-width: 5rem; font-size: 1rem; }}
</style>
</head>
<body>
<img id="picture" alt="{title}, step by step">
<button id="play" type="button">Play</button>
<input id="place" type="range" min="0" max="{last}" value="0" aria-label="frame">
<span id="count"></span>
<script>
const frames = [{frames}];
const picture = document.getElementById("picture"), place = document.getElementById("place");
const play = document.getElementById("play"), count = document.getElementById("count");
let timer = null;
function show() {{
  picture.src = "data:image/png;base64," + frames[place.value];
  count.textContent = (Number(place.value) + 1) + " / " + frames.length;
}}
function stop() {{ clearInterval(timer); timer = null; play.textContent = "Play"; }}
function step() {{
  if (Number(place.value) + 1 >= frames.length) {{ stop(); return; }}
  place.value = Number(place.value) + 1;
  show();
}}
play.onclick = () => {{
  if (timer !== null) {{ stop(); return; }}
  if (Number(place.value) + 1 >= frames.length) {{ place.value = 0; show(); }}
  timer = setInterval(step, {milliseconds});
  play.textContent = "Pause";
}};
place.oninput = () => {{ stop(); show(); }};
show();
</script>
</body>
</html>
"""


def png_bytes(figure: Any, dpi: int = 80) -> bytes:
    """Return a figure as PNG, the same bytes each time."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None})
    return stream.getvalue()


def gif_bytes(images: list[bytes], seconds: float) -> bytes:
    """Return PNG images as a GIF that starts again at its end."""
    from PIL import Image

    frames = [Image.open(BytesIO(image)).convert("RGB").quantize(128) for image in images]
    times = [round(1000 * seconds)] * len(frames)
    times[-1] *= LAST
    stream = BytesIO()
    frames[0].save(
        stream, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, disposal=1
    )
    return stream.getvalue()


def page_text(images: list[bytes], seconds: float, title: str) -> str:
    """Return a page with PNG images, a slider and a button; it asks for nothing outside of it."""
    return PAGE.format(
        title=html.escape(title),
        last=len(images) - 1,
        frames=",\n".join(f'"{b64encode(image).decode()}"' for image in images),
        milliseconds=round(1000 * seconds),
    )
