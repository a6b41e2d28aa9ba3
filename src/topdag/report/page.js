"use strict";
(() => {
  const values = JSON.parse(document.getElementById("values").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const percent = p => p > 0 && p < 0.001 ? "<0.1%" : p < 1 && p > 0.999 ? ">99.9%" : (100 * p).toFixed(1) + "%";
  document.documentElement.classList.add("js");

  // Light and dark: as the system says, until the button says otherwise.
  const root = document.documentElement, theme = document.getElementById("theme");
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (systemIsDark.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  systemIsDark.addEventListener("change", nameTheme);
  nameTheme();

  // Wide pictures are fitted to the page, very wide ones scroll; a button changes that.
  for (const button of all("button.fit")) {
    const frame = button.parentElement.querySelector(".picture"), svg = frame.querySelector("svg");
    const natural = Number(svg.getAttribute("width"));
    let asked = null;
    const arrange = () => {
      const room = frame.clientWidth;
      if (!room) return;
      const fits = natural <= room, fitted = !fits && (asked === null ? room / natural > 0.45 : asked);
      frame.classList.toggle("fitted", fitted);
      button.hidden = fits;
      button.textContent = fitted ? "Actual size" : "Fit to width";
      if (!fits && !fitted) frame.scrollLeft = (natural - room) / 2;
    };
    button.addEventListener("click", () => { asked = !frame.classList.contains("fitted"); arrange(); });
    new ResizeObserver(arrange).observe(frame);
  }

  // Pointing at a variable shows what it is joined to.
  for (const svg of all(".picture svg")) {
    const boxes = all(".box", svg);
    const mark = v => {
      svg.classList.toggle("marked", v !== null);
      for (const shape of all(".near", svg)) shape.classList.remove("near");
      if (v === null) return;
      boxes[v].classList.add("near");
      for (const edge of all(".edge:not(.off)", svg)) {
        const ends = [Number(edge.dataset.a), Number(edge.dataset.b)];
        if (!ends.includes(v)) continue;
        edge.classList.add("near");
        for (const end of ends) boxes[end].classList.add("near");
      }
    };
    boxes.forEach((box, v) => {
      box.addEventListener("pointerenter", () => mark(v));
      box.addEventListener("pointerleave", () => mark(null));
    });
  }

  // The list: one item is chosen, its edges are marked by what differs from the best.
  const signs = { added: "+", dropped: "−", turned: "↺" };
  const choices = all('input[name="item"]'), panels = all(".panel");
  const drawn = new Map(all("#list-figure .edge").map(edge => [Number(edge.dataset.e), edge]));
  const choose = place => {
    panels.forEach((panel, i) => { panel.hidden = i !== place; });
    for (const edge of drawn.values()) edge.setAttribute("class", "edge off");
    for (const [e, role] of values.roles[place]) {
      const edge = drawn.get(e);
      edge.setAttribute("class", "edge " + role);
      edge.querySelector(".badge text").textContent = signs[role] || "";
    }
    previous.disabled = place === 0;
    next.disabled = place === choices.length - 1;
  };
  const previous = document.getElementById("previous"), next = document.getElementById("next");
  if (choices.length) {
    const chosen = () => choices.findIndex(choice => choice.checked);
    const goTo = place => {
      const choice = choices[Math.max(0, Math.min(choices.length - 1, place))];
      choice.checked = true;
      const label = choice.parentElement, list = label.parentElement;
      if (label.offsetTop < list.scrollTop) list.scrollTop = label.offsetTop;
      if (label.offsetTop + label.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = label.offsetTop + label.offsetHeight - list.clientHeight;
      choose(chosen());
    };
    choices.forEach((choice, place) => {
      choice.addEventListener("change", () => choose(place));
      choice.addEventListener("keydown", event => {
        const target = { Home: 0, End: choices.length - 1, PageDown: place + 10, PageUp: place - 10 }[event.key];
        if (target === undefined) return;
        event.preventDefault();
        goTo(target);
        choices[chosen()].focus();
      });
    });
    previous.addEventListener("click", () => goTo(chosen() - 1));
    next.addEventListener("click", () => goTo(chosen() + 1));
    previous.parentElement.hidden = false;
    choose(chosen());
  }

  // Edges or paths.
  const views = all(".view"), switches = all('input[name="pairs"]');
  const show = key => views.forEach(view => { view.hidden = view.dataset.pairs !== key; });
  if (switches.length) {
    switches[0].closest("fieldset").hidden = false;
    for (const one of switches) one.addEventListener("change", () => show(one.value));
    show(switches.find(one => one.checked).value);
  }

  // The slider hides what is less probable.
  for (const slider of all(".slider")) {
    const edges = all(`#${slider.dataset.for} .edge`), row = slider.parentElement;
    const update = () => {
      let count = 0;
      for (const edge of edges) {
        const isShown = Number(edge.dataset.p) * 100 >= Number(slider.value);
        edge.classList.toggle("off", !isShown);
        count += isShown;
      }
      row.querySelector("output").textContent = slider.value + "%";
      row.querySelector(".shown-count").textContent = `${count} of ${edges.length} shown`;
    };
    slider.addEventListener("input", update);
    row.hidden = false;
    update();
  }

  // The heat map: hover or focus tells what a cell means; arrow keys go from cell to cell.
  for (const table of all("table.heat")) {
    const key = table.closest(".view").dataset.pairs, { thing, number } = table.dataset;
    const readout = table.closest(".view").querySelector(".readout");
    const cell = (i, j) => table.querySelector(`td[data-i="${i}"][data-j="${j}"]`);
    const tell = (i, j) => {
      const p = values[key][i][j], back = values[key][j][i];
      readout.textContent = `${values.names[i]} → ${values.names[j]}: ${thing} has ${number} ${percent(p)}; the other way ${percent(back)}.`;
    };
    const placeOf = td => [Number(td.dataset.i), Number(td.dataset.j)];
    let current = null;
    const go = td => {
      if (current) current.tabIndex = -1;
      current = td;
      td.tabIndex = 0;
    };
    for (const td of all("td[data-i]", table)) {
      td.tabIndex = -1;
      td.addEventListener("pointerenter", () => tell(...placeOf(td)));
      td.addEventListener("focus", () => { go(td); tell(...placeOf(td)); });
    }
    if (values.names.length > 1) go(cell(0, 1));
    table.addEventListener("keydown", event => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step || !event.target.dataset.i) return;
      event.preventDefault();
      let [i, j] = placeOf(event.target);
      do { i += step[0]; j += step[1]; } while (i === j);
      const target = cell(i, j);
      if (target) target.focus();
    });
  }

  // On paper everything is open.
  addEventListener("beforeprint", () => { for (const part of all("details")) part.open = true; });
})();
