"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const actions = { export: true, source: false, compiled: false, editor: false };
  const drawn = data.charts.map(function (chart) {
    const place = document.getElementById("chart-" + chart.key);
    const spec = Object.assign({ description: chart.label, autosize: { type: "pad" } }, chart.spec);
    const options = {
      mode: "vega-lite",
      renderer: "svg",
      ast: true,
      bind: document.getElementById("controls-" + chart.key),
      actions: actions,
      config: data.config,
      downloadFileName: chart.key,
    };
    return window.vegaEmbed(place, spec, options).then(
      function () { place.dataset.drawn = "yes"; },
      function (error) {
        place.textContent = "This chart could not be drawn; its numbers stand in the table below.";
        place.dataset.drawn = "no";
        console.error(chart.key, error);
      }
    );
  });
  Promise.all(drawn).then(function () { document.body.dataset.drawn = "all"; });

  let opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (each) { each.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (each) { each.open = false; });
  });
})();
