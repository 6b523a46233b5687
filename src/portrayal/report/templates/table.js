"use strict";
(function () {
  const found = JSON.parse(document.getElementById("data").textContent).table;
  const table = document.getElementById("estimates");
  const filter = document.getElementById("filter");
  const sureOnly = document.getElementById("sure-only");
  const note = document.getElementById("filter-note");
  const more = document.getElementById("more");
  const PAGE = 40;
  const WORDS = 4;
  const Q = 7;
  const search = found.rows.map(function (row) { return row.join(" ").toLowerCase(); });
  let shown = PAGE;

  const head = table.createTHead().insertRow();
  found.heads.forEach(function (text, column) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = text;
    if (column >= WORDS) cell.className = "n";
    head.appendChild(cell);
  });
  const body = table.createTBody();

  function fits(i, words) {
    const q = found.rows[i][Q];
    if (sureOnly.checked && !(q.startsWith("<") || parseFloat(q) < 0.05)) return false;
    return words.every(function (word) { return search[i].includes(word); });
  }

  function draw() {
    const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const chosen = found.rows.filter(function (_, i) { return fits(i, words); });
    body.replaceChildren();
    chosen.slice(0, shown).forEach(function (row) {
      const line = body.insertRow();
      if (row[10]) line.title = row[10];
      row.slice(0, 10).forEach(function (text, column) {
        const cell = line.insertCell();
        const inner = document.createElement("bdi");
        inner.textContent = text;
        cell.appendChild(inner);
        if (column >= WORDS) cell.className = "n";
      });
    });
    note.textContent = chosen.length + " of " + found.rows.length + " rows" +
      (chosen.length > shown ? "; the first " + shown + " are shown" : "") + ".";
    more.hidden = chosen.length <= shown;
  }

  filter.addEventListener("input", function () { shown = PAGE; draw(); });
  sureOnly.addEventListener("change", function () { shown = PAGE; draw(); });
  more.addEventListener("click", function () { shown += 200; draw(); });
  draw();

  const status = document.getElementById("download-note");
  async function unpack(source) {
    const packed = atob(document.getElementById(source).textContent.trim());
    const bytes = Uint8Array.from(packed, function (c) { return c.charCodeAt(0); });
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).blob();
  }
  async function save() {
    const given = this.dataset;
    if (typeof DecompressionStream === "undefined") {
      status.textContent = "This browser cannot unpack the file; " + given.instead;
      return;
    }
    const blob = await unpack(given.source);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([blob], { type: given.type + ";charset=utf-8" }));
    link.download = given.file;
    link.click();
    status.textContent = "Saved as " + given.file + ".";
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }
  document.querySelectorAll("button[data-file]").forEach(function (button) {
    button.addEventListener("click", save);
  });
})();
