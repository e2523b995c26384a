"use strict";
// Draws the charts, shows values under the pointer, opens what paper should show.
(() => {
  const holder = document.getElementById("charts");
  const specs = JSON.parse(holder.textContent);
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  const ink = "var(--ink)", quiet = "var(--quiet)", line = "var(--line)";
  const config = {
    aria: false, // the element around a chart says what it is, and a table has its numbers
    background: "transparent",
    font,
    padding: { left: 2, right: 8, top: 4, bottom: 2 },
    view: { stroke: "transparent" },
    axis: {
      labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", titlePadding: 10,
      labelPadding: 6, labelLimit: 170, titleLimit: 340, tickSize: 4, labelOverlap: "greedy", labelSeparation: 6,
      labelFlush: false,
    },
    axisX: { tickCount: 5 },
    axisY: { domain: false, ticks: false, tickCount: 6 },
  };
  const formatLocale = { decimal: ".", thousands: "\u202f", grouping: [3], currency: ["", ""] };

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  function show(event, values) {
    tip.replaceChildren();
    for (const [name, value] of Object.entries(values)) {
      const row = document.createElement("div");
      const key = document.createElement("span");
      const said = document.createElement("bdi");
      key.textContent = name;
      said.textContent = value;
      row.append(key, said);
      tip.append(row);
    }
    tip.hidden = false;
    const room = document.documentElement;
    const left = Math.min(event.clientX + 14, room.clientWidth - tip.offsetWidth - 8);
    const below = event.clientY + 16 + tip.offsetHeight < room.clientHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY + 16 : event.clientY - tip.offsetHeight - 12}px`;
  }

  function tooltip(handler, event, item, value) {
    if (value && typeof value === "object") show(event, value);
    else tip.hidden = true;
  }

  const options = {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, config, tooltip, formatLocale,
    defaultStyle: false,
  };
  // What is large is packed. A script that was unpacked runs because the page's policy knows its hash.
  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  async function run(id) {
    const script = document.createElement("script");
    script.textContent = await unpacked(id);
    document.head.append(script);
  }

  async function draw(key, spec) {
    const place = document.getElementById(`chart-${key}`);
    try {
      await vegaEmbed(place, spec, options);
      place.dataset.drawn = "";
    } catch (error) {
      place.textContent = "This chart could not be drawn. Its numbers are below.";
      console.error(error);
    }
  }

  async function start() {
    if (document.getElementById("library")) {
      await run("library");
      await Promise.all(Object.entries(specs).map(([key, spec]) => draw(key, spec)));
    }
    const data = document.getElementById("what-if-data");
    if (data) {
      data.textContent = await unpacked("what-if-data");
      await run("what-if-script");
    }
  }

  start().catch((error) => {
    for (const place of document.querySelectorAll(".plot:not([data-drawn]), #what-if")) {
      place.textContent = "This needs a newer browser.";
    }
    console.error(error);
  }).finally(() => { document.body.dataset.drawn = ""; });

  // Tables that are wider than their place are scrolled, also by the keyboard.
  function reach() {
    for (const each of document.querySelectorAll(".scroll, pre")) {
      const wide = each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight;
      if (wide) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
      if (each.dataset.name && wide) {
        each.setAttribute("role", "region");
        each.setAttribute("aria-label", each.dataset.name);
      } else {
        each.removeAttribute("role");
        each.removeAttribute("aria-label");
      }
    }
  }
  reach();
  addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);

  const opened = new Set();
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details.print:not([open])")) {
      each.open = true;
      opened.add(each);
    }
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
    opened.clear();
  });
})();
