"use strict";
// One text: answers go into a queue that outlives the page, and leave it when the server has them
// on its disk.
(() => {
  const data = document.body.dataset;
  const store = `portrayal ${data.project} ${data.reader.split(".")[0]}`;
  const $ = (id) => document.getElementById(id);
  const controls = [...document.querySelectorAll("[data-about]")];
  let memory = [];
  let running = null;
  let leaving = "";
  let wait = 1000;
  let timer = 0;
  let typing = 0;

  const newId = () =>
    [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

  function queue() {
    try {
      return JSON.parse(localStorage.getItem(store)) || [];
    } catch {
      return memory;
    }
  }

  function keep(rows) {
    memory = rows;
    try {
      if (rows.length) localStorage.setItem(store, JSON.stringify(rows));
      else localStorage.removeItem(store);
    } catch {
      // without storage the queue lives as long as the page
    }
  }

  function say(text, waiting = false) {
    const status = $("status");
    status.textContent = text;
    status.classList.toggle("waiting", waiting);
  }

  function complain(text) {
    $("problem").textContent = text;
    $("problem").hidden = !text;
  }

  function push(about, key, value, label) {
    const click = { click_id: newId(), place: Number(data.place), about, key, value };
    keep([...queue(), { click, label }]);
    waitingLine();
    send();
  }

  function waitingLine(more = "") {
    const n = queue().length;
    if (n) say(`Not saved yet: ${n} ${n === 1 ? "answer" : "answers"}.${more}`, true);
  }

  async function post(path, body) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Portrayal": data.form },
      body: JSON.stringify({ ...body, reader: data.reader }),
      signal: AbortSignal.timeout(15000),
    });
    const said = await answer.json().catch(() => ({}));
    return { status: answer.status, said };
  }

  // One run at a time; whoever asks meanwhile waits for the same one.
  function send() {
    running ||= run().finally(() => {
      running = null;
      const left = queue().length;
      if (left && !timer) send();
      else if (!left && leaving) location.assign(leaving);
    });
    return running;
  }

  async function run() {
    clearTimeout(timer);
    timer = 0;
    try {
      for (let rows = queue(); rows.length; rows = queue()) {
        const { click, label } = rows[0];
        const { status, said } = await post("/save", click);
        if (status !== 200 && status !== 400) throw status;
        keep(queue().filter((row) => row.click.click_id !== click.click_id));
        wait = 1000;
        if (status === 400) complain(`Not saved: ${label}. ${said.error || ""}`);
        else saved(said, label);
      }
    } catch (reason) {
      const gone = reason === 403;
      waitingLine(gone ? "" : " Trying again.");
      if (gone) {
        complain(
          "The server does not know this page any more. Open its present address in this browser: " +
            "what is not saved is kept here and sent then.",
        );
      }
      timer = setTimeout(send, wait);
      wait = Math.min(wait * 2, 10000);
    }
  }

  function saved(said, label) {
    $("done").textContent = said.done.toLocaleString("en-US");
    $("progress").value = said.done;
    if (queue().length) waitingLine();
    else say(`Saved: ${label}.`);
  }

  function labelOf(control) {
    const label = control.closest("label") || document.querySelector(`label[for="${control.id}"]`);
    return (label.querySelector("span") || label.firstChild).textContent.trim();
  }

  function answered(control) {
    const { about, key } = control.dataset;
    const label = labelOf(control);
    delete control.dataset.agreed;
    if (control.type === "checkbox") {
      push(about, key, control.checked ? "1" : "0", `${label} ${control.checked ? "set" : "not set"}`);
    } else if (control.type === "radio") {
      push(about, key, control.checked ? control.value : null, `${label}${control.checked ? "" : " not set"}`);
    } else {
      if (control.value === control.dataset.sent) return;
      control.dataset.sent = control.value;
      push(about, key, control.value.trim() || null, label);
    }
  }

  function writeTexts() {
    clearTimeout(typing);
    controls.filter((c) => "sent" in c.dataset).forEach(answered);
  }

  function typed() {
    clearTimeout(typing);
    say("Not saved yet: typing.", true);
    typing = setTimeout(writeTexts, 800);
  }

  // What the audit needs and nobody answered; a note in place of all answers will do.
  function unanswered() {
    const filled = (control) =>
      control.type === "radio" ? control.checked : Boolean(control.value.trim());
    const fields = controls.filter((c) => c.dataset.about === "field");
    if (!fields.some(filled) && filled($("note"))) return [];
    return [...document.querySelectorAll("[data-needed]")].filter(
      (field) => !fields.some((c) => field.contains(c) && filled(c)),
    );
  }

  function finish() {
    if (leaving) return;
    writeTexts();
    const left = unanswered();
    if (left.length) {
      const names = left.map((field) => field.dataset.needed).join(", ");
      complain(
        `Not done yet. To answer: ${names}. Where none of the answers fits, leave all of them open ` +
          "and write a note.",
      );
      left[0].querySelector("[data-about]").focus();
      return;
    }
    complain("");
    controls.filter((c) => "agreed" in c.dataset).forEach(answered);
    leaving = `/next?after=${data.place}`;
    push("done", "", "1", "done with this text");
  }

  async function undo() {
    if (leaving) return;
    writeTexts();
    await send();
    if (queue().length) return;
    try {
      const { status, said } = await post("/undo", { click_id: newId() });
      if (status !== 200) throw status;
      if (!said.place) {
        say("There is nothing to undo.");
        return;
      }
      sessionStorage.setItem("portrayal said", "Undone.");
      location.assign(`/text/${said.place}`);
    } catch {
      say("Not undone: the server does not answer. Try again.", true);
    }
  }

  function go(place) {
    if (!place || leaving) return;
    writeTexts();
    leaving = `/text/${place}`;
    send();
  }

  function use(control) {
    if (control.type === "checkbox") control.checked = !control.checked;
    else if (control.type === "radio") control.checked = !control.checked;
    else {
      control.focus();
      return;
    }
    control.focus({ preventScroll: true });
    answered(control);
  }

  function isText(target) {
    return target.matches("textarea, input:not([type='checkbox']):not([type='radio'])");
  }

  function pressed(event) {
    const { key, target } = event;
    if (isText(target)) {
      if (key === "Escape") target.blur();
      else if (key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) finish();
      else if (key === "Enter" && target.dataset.about === "field") {
        event.preventDefault();
        target.blur();
      }
      return;
    }
    if (!$("keys").checked || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !event.shiftKey) act(event, undo);
      return;
    }
    const control = controls.find((c) => c.dataset.shortcut === key.toLowerCase());
    if (control) act(event, () => use(control));
    else if (key === "Enter" && !target.matches("a, button, summary")) act(event, finish);
    else if (key === "Backspace") act(event, undo);
    else if (target.type === "radio") return;
    else if (key === "ArrowLeft") act(event, () => go(data.before));
    else if (key === "ArrowRight") act(event, () => go(data.after));
  }

  function act(event, what) {
    event.preventDefault();
    if (!event.repeat) what();
  }

  function remembered(id, name) {
    const box = $(id);
    try {
      box.checked = localStorage.getItem(name) !== "no";
      box.addEventListener("change", () => localStorage.setItem(name, box.checked ? "yes" : "no"));
    } catch {
      // without storage the choice lives as long as the page
    }
  }

  for (const control of controls) {
    if (control.type === "checkbox" || control.type === "radio") {
      control.addEventListener("change", () => answered(control));
    } else {
      control.dataset.sent = control.value;
      control.addEventListener("input", typed);
      control.addEventListener("blur", writeTexts);
    }
  }
  for (const link of document.querySelectorAll("a[rel]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(link.rel === "prev" ? data.before : data.after);
    });
  }
  $("finish").addEventListener("click", finish);
  $("undo").addEventListener("click", undo);
  document.addEventListener("keydown", pressed);
  window.addEventListener("online", send);
  window.addEventListener("beforeunload", (event) => {
    if (queue().length) event.preventDefault();
  });
  remembered("keys", "portrayal keys");
  $("place").focus({ preventScroll: true });
  const words = sessionStorage.getItem("portrayal said");
  if (words) say(words);
  sessionStorage.removeItem("portrayal said");
  if (queue().length) {
    // left over from a page that could not save: send, then show what stands
    leaving = location.pathname;
    waitingLine(" Sending what an earlier page left.");
    send();
  }
})();
