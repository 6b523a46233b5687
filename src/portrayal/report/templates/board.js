"use strict";
/* Filters of a board. */
(function () {
  const study = document.getElementById("by-study");
  const model = document.getElementById("by-model");
  const all = function (query) { return Array.from(document.querySelectorAll(query)); };
  function list() {
    const runs = all(".runs > li");
    runs.forEach(function (run) {
      const models = run.dataset.models.split(" ");
      run.hidden = (study.value && run.dataset.study !== study.value) || (model.value && !models.includes(model.value));
    });
    all("#compared > [data-study]").forEach(function (part) {
      part.hidden = study.value && part.dataset.study !== study.value;
    });
    all("[data-model]").forEach(function (cell) {
      cell.hidden = model.value && cell.dataset.model !== model.value;
    });
    const shown = runs.filter(function (run) { return !run.hidden; }).length;
    document.getElementById("shown").textContent = shown + " of " + runs.length + " runs";
  }
  study.addEventListener("change", list);
  model.addEventListener("change", list);
  list();
})();
