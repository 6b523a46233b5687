"use strict";
(function () {
  const pairs = Array.from(document.querySelectorAll(".pair"));
  const series = document.getElementById("pairs-series");
  const note = document.getElementById("pairs-note");

  function draw() {
    let shown = 0;
    pairs.forEach(function (pair) {
      pair.hidden = series !== null && series.value !== "" && series.value !== pair.dataset.series;
      if (!pair.hidden) shown += 1;
    });
    note.textContent = shown + " of " + pairs.length + " pairs.";
  }

  if (series) series.addEventListener("change", draw);
  draw();
})();
