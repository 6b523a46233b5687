"use strict";
(function () {
  const place = document.getElementById("agency-texts");
  const texts = Array.from(place.querySelectorAll(".agency-text"));
  const group = document.getElementById("agency-group");
  const kind = document.getElementById("agency-class");
  const note = document.getElementById("agency-note");

  function draw() {
    let shown = 0;
    place.dataset.kind = kind.value;
    texts.forEach(function (text) {
      const fits = group.value === "" || group.value === text.dataset.group;
      const holds = kind.value === "" || text.querySelector("." + kind.value) !== null;
      text.hidden = !(fits && holds);
      if (!text.hidden) shown += 1;
    });
    note.textContent = shown + " of " + texts.length + " texts.";
  }

  [group, kind].forEach(function (choice) { choice.addEventListener("change", draw); });
  draw();
})();
