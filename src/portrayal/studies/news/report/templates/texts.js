"use strict";
(function () {
  const pairs = Array.from(document.querySelectorAll(".pair"));
  const model = document.getElementById("pairs-model");
  const form = document.getElementById("pairs-form");
  const note = document.getElementById("pairs-note");

  function fits(choice, code) {
    return !choice || choice.value === "" || choice.value === code;
  }

  function draw() {
    let shown = 0;
    pairs.forEach(function (pair) {
      pair.hidden = !(fits(model, pair.dataset.model) && fits(form, pair.dataset.form));
      if (!pair.hidden) shown += 1;
    });
    note.textContent = shown + " of " + pairs.length + " pairs, the furthest first.";
  }

  [model, form].forEach(function (choice) {
    if (choice) choice.addEventListener("change", draw);
  });
  draw();
})();
