"use strict";
(function () {
  const byId = function (id) { return document.getElementById(id); };
  const each = function (query, act) { document.querySelectorAll(query).forEach(act); };

  async function unpack(id) {
    const packed = atob(byId(id).textContent.trim());
    const bytes = Uint8Array.from(packed, function (c) { return c.charCodeAt(0); });
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }
  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }
  function citation() { return byId("citation").textContent.replace(/\s+/g, " ").trim(); }

  /* Charts: kept packed, put into the page when their figure opens. */
  let charts = {};
  function image(key) {
    return document.importNode(new DOMParser().parseFromString(charts[key], "image/svg+xml").documentElement, true);
  }
  function draw(place) {
    if (charts[place.dataset.chart]) place.replaceChildren(image(place.dataset.chart));
  }
  function drawOpen() {
    each("[data-chart]", function (place) {
      if (place.closest("details:not([open])") === null) draw(place);
    });
  }
  each("figure > details", function (figure) { figure.addEventListener("toggle", drawOpen); });

  /* Folds: a link to what is folded opens it; printing opens the figures. */
  function show(id) {
    const target = id && byId(id);
    if (!target) return;
    const inside = target.querySelector("details");
    if (inside && target.matches("section, figure")) inside.open = true;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  }
  function follow() { show(decodeURIComponent(location.hash.slice(1))); }
  window.addEventListener("hashchange", follow);
  each("nav a", function (link) {
    link.addEventListener("click", function () {
      show(link.hash.slice(1));
      if (!beside.matches) byId("contents").open = false;
    });
  });
  const beside = window.matchMedia("(min-width: 72rem)");
  function unfold() { if (byId("contents")) byId("contents").open = beside.matches; }
  beside.addEventListener("change", unfold);
  unfold();
  const all = byId("open-all");
  if (all) all.addEventListener("click", function () {
    const open = all.getAttribute("aria-pressed") !== "true";
    all.setAttribute("aria-pressed", String(open));
    each("figure > details", function (figure) { figure.open = open; });
  });
  /* A print opens figures in their order, charts at a size that can be read, for nine pages. */
  const SHEET = 1000;
  const TALLEST = 620;
  const SHEETS = 8;
  function printedHeight(figure) {
    const place = figure.querySelector("[data-chart]");
    const image = place && charts[place.dataset.chart];
    if (!image) return 130 + 24 * figure.querySelectorAll("tr").length;
    const size = image.match(/ width="([\d.]+)" height="([\d.]+)"/).slice(1).map(Number);
    return 170 + Math.min(TALLEST, size[1] * Math.min(1, 700 / size[0]));
  }
  let opened = [];
  window.addEventListener("beforeprint", function () {
    if (byId("figures")) each(".behind:not([open]), #words", function (fold) {
      fold.open = true;
      opened.push(fold);
    });
    let used = 0;
    let sheets = 0;
    each("figure > details:not([open])", function (figure) {
      const height = printedHeight(figure);
      const fresh = used + height > SHEET;
      if (sheets + Number(fresh) + Math.floor(height / SHEET) >= SHEETS) return;
      sheets += Number(fresh) + Math.floor(height / SHEET);
      used = (fresh ? 0 : used) + height % SHEET;
      figure.open = true;
      opened.push(figure);
    });
    drawOpen();
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (figure) { figure.open = false; });
    opened = [];
  });

  /* Terms: what a word means, while it is pointed at or focused; Escape closes it. */
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  function explain(term) {
    tip.textContent = term ? term.dataset.means : "";
    tip.hidden = !term;
  }
  each(".term", function (term) {
    term.setAttribute("aria-describedby", "tip");
    ["mouseenter", "focus", "click"].forEach(function (name) {
      term.addEventListener(name, function () { explain(term); });
    });
    ["mouseleave", "blur"].forEach(function (name) {
      term.addEventListener(name, function () { explain(null); });
    });
  });
  document.addEventListener("keydown", function (key) { if (key.key === "Escape") explain(null); });

  /* Sharing: a finding as text, a chart with its caption as a file; each with the citation. */
  const status = byId("status");
  function button(words, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "share";
    made.textContent = words;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }
  function copied(item) {
    const parts = Array.from(item.querySelectorAll(".headline, .facts-of, .evidence"));
    return parts.map(function (p) { return p.textContent.trim().replace(/\s+/g, " "); }).join("\n") + "\n" + citation();
  }
  each("[data-share]", function (item) {
    item.append(button("Copy", "Copy this finding with its citation", function () {
      navigator.clipboard.writeText(copied(item)).then(
        function () { status.textContent = "Copied."; },
        function () { status.textContent = "This browser does not let the page copy; mark the sentence instead."; }
      );
    }));
  });
  function lines(text, width, pen) {
    const found = [""];
    text.split(/\s+/).forEach(function (word) {
      const longer = (found[found.length - 1] + " " + word).trim();
      if (pen.measureText(longer).width > width) found.push(word);
      else found[found.length - 1] = longer;
    });
    return found;
  }
  const SIGNS = { ring: "○", small: "∘", band: "▬", diamond: "◇" };
  function captioned(figure) {
    const NS = "http://www.w3.org/2000/svg";
    const inner = image(figure.querySelector("[data-chart]").dataset.chart);
    const pen = document.createElement("canvas").getContext("2d");
    const chart = { w: parseFloat(inner.getAttribute("width")), h: parseFloat(inner.getAttribute("height")) };
    const width = Math.max(chart.w, 420) + 32;
    const outer = document.createElementNS(NS, "svg");
    let y = 16;
    function write(text, size, weight, colour, glyph) {
      pen.font = weight + " " + size + "px system-ui, sans-serif";
      if (glyph) text = glyph.sign + " " + text;
      lines(text, width - 32, pen).forEach(function (line, number) {
        const words = document.createElementNS(NS, "text");
        const look = { x: 16, y: y + size, "font-size": size, "font-weight": weight, fill: colour };
        Object.entries(look).forEach(function (pair) { words.setAttribute(pair[0], pair[1]); });
        words.textContent = line;
        if (glyph && number === 0) {
          const sign = document.createElementNS(NS, "tspan");
          sign.setAttribute("fill", glyph.colour);
          sign.textContent = glyph.sign;
          words.textContent = line.slice(glyph.sign.length);
          words.prepend(sign);
        }
        outer.append(words);
        y += size * 1.4;
      });
    }
    const text = function (query) {
      const found = figure.querySelector(query);
      return found ? found.textContent.trim() : "";
    };
    write(text("h3"), 17, 600, "#1c1c1c");
    write(text(".reading"), 13, 400, "#1c1c1c");
    inner.setAttribute("x", "16");
    inner.setAttribute("y", String(y + 8));
    outer.append(inner);
    y += chart.h + 16;
    figure.querySelectorAll(".key li").forEach(function (item) {
      const mark = item.querySelector(".mark");
      const look = getComputedStyle(mark);
      const filled = look.backgroundColor !== "rgba(0, 0, 0, 0)";
      const sign = Object.keys(SIGNS).find(function (name) { return mark.classList.contains(name); });
      const glyph = { sign: SIGNS[sign] || "●", colour: filled ? look.backgroundColor : look.borderTopColor };
      write(item.textContent.trim(), 12, 400, "#444444", glyph);
    });
    write(text("figcaption"), 12, 400, "#595959");
    write(citation(), 12, 400, "#595959");
    const size = { xmlns: NS, width: width, height: y + 12, "font-family": inner.getAttribute("font-family"), style: "background: white" };
    Object.entries(size).forEach(function (pair) { outer.setAttribute(pair[0], pair[1]); });
    return { text: new XMLSerializer().serializeToString(outer), width: width, height: y + 12 };
  }
  function saveChart(figure, kind) {
    const made = captioned(figure);
    const svg = new Blob([made.text], { type: "image/svg+xml;charset=utf-8" });
    const name = figure.id + "." + kind;
    if (kind === "svg") return save(svg, name);
    const picture = new Image();
    picture.addEventListener("load", function () {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * made.width;
      canvas.height = 2 * made.height;
      const pen = canvas.getContext("2d");
      pen.fillStyle = "white";
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(function (blob) { save(blob, name); });
    });
    picture.src = URL.createObjectURL(svg);
    return undefined;
  }
  each("figure .save button", function (made) {
    made.addEventListener("click", function () { saveChart(made.closest("figure"), made.dataset.save); });
  });

  /* The file inside the page. */
  each("#download", function (made) {
    made.addEventListener("click", function () {
      unpack("csv").then(
        function (text) {
          save(new Blob([text], { type: "text/csv;charset=utf-8" }), made.dataset.file);
          byId("download-note").textContent = "Saved as " + made.dataset.file + ".";
        },
        function () { byId("download-note").textContent = "This browser cannot unpack the file; `--format csv` gives it as well."; }
      );
    });
  });

  unpack("data").then(
    function (text) {
      charts = JSON.parse(text);
      follow();
      drawOpen();
      document.body.dataset.drawn = "all";
    },
    function (error) {
      each("[data-chart]", function (place) {
        place.textContent = "This browser cannot draw the chart; its numbers stand in the table.";
      });
      console.error(error);
    }
  );
})();
