// The page: what is shown, how time goes, and what the controls do.

const $ = (id) => document.getElementById(id);
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const PERIOD = 2; // seconds that one swing of a mode takes on the screen
const SWING = 120; // frames of it
const TELL = 90; // ms between numbers while it plays

const wish = new URLSearchParams(location.hash.slice(1));
const page = { time: 0, playing: false, speed: 1, frame: 0, drawn: 0, worked: 0, mode: 0, plots: [], asked: false, last: 0, told: 0 };

start();

async function start() {
  try {
    if (wish.get("only") === "view") document.documentElement.dataset.only = "view"; // in a frame of another page
    const arrays = await unpacked();
    page.arrays = arrays;
    page.frames = arrays[model.frames].values;
    page.times = arrays[model.times].values;
    page.swings = model.kind === "modes";
    page.begin = page.swings ? 0 : page.frames[0];
    page.end = page.swings ? PERIOD : page.frames[page.frames.length - 1];
    page.time = page.begin;
    page.steps = page.swings ? SWING : page.frames.length - 1;
    const shade = shades();
    page.bodies = model.bodies.map((body) => new Body(body, arrays, page.frames, shade));
    page.byName = new Map(page.bodies.map((body) => [body.name, body]));
    page.order = model.order ? model.order.map((name) => page.byName.get(name)) : page.bodies; // after those on which they hang
    for (const quantity of model.quantities) {
      for (const line of quantity.lines) line.values = arrays[line.values].values;
      if (quantity.residual !== undefined) quantity.residual = arrays[quantity.residual].values;
    }
    theme(document.documentElement.dataset.theme || (dark.matches ? "dark" : "light"), false);
    words();
    stage();
    controls();
    wishes();
    plots();
    keys();
    theme(document.documentElement.dataset.theme, false);
    goto(page.begin);
    if (!still.matches && page.steps > 0) play(true);
    window.phloat = hook();
  } catch (error) {
    $("subtitle").textContent = `This page could not be shown: ${error.message}`;
    throw error;
  }
}

// --- time ------------------------------------------------------------------------------------------------------------

function ask() {
  if (page.asked) return;
  page.asked = true;
  requestAnimationFrame(draw);
}

function draw(now) {
  page.asked = false;
  if (page.playing) {
    const passed = Math.min(0.25, (now - page.last) / 1000) * page.speed;
    smoother(now - page.last);
    page.last = now;
    let time = page.time + passed;
    if (time > page.end) {
      if ($("loop").checked) time = page.begin + ((time - page.begin) % (page.end - page.begin || 1));
      else {
        time = page.end;
        play(false);
      }
    }
    page.time = time;
    ask();
  }
  const begin = performance.now();
  shown();
  page.worked += performance.now() - begin;
  page.drawn += 1;
}

function shown() {
  const by = $("colour").value, factor = magnified();
  pose(page.time);
  for (const body of page.order) body.draw(factor, by, model.range[by] || 0, page.byName);
  if (page.renderer) {
    page.marks.draw();
    page.lamp.position.copy(page.camera.lens.position).addScaledVector(page.camera.upward(), 0.4 * page.camera.distance);
    page.lamp.target.position.copy(page.camera.target);
    page.renderer.render(page.scene, page.camera.lens);
    names();
  }
  for (const plot of page.plots) plot.cursor(page.time);
  if (!page.playing || page.last - page.told > TELL) told();
}

// Numbers, not faster than they can be read.
function told() {
  page.told = page.last;
  $("clock").textContent = clock();
  if (document.activeElement !== $("scrub") || page.playing) $("scrub").value = nearest();
  $("scrub").setAttribute("aria-valuetext", clock());
  for (const plot of page.plots) plot.tell();
}

// Every body at a time of the run, or a mode at its phase.
function pose(t) {
  if (page.swings) {
    const phase = (2 * Math.PI * t) / PERIOD, count = model.modes.length;
    const amplitudes = new Float32Array(model.spinning ? 2 * count : count);
    amplitudes[page.mode] = Math.cos(phase);
    if (model.spinning) amplitudes[page.mode + count] = -Math.sin(phase);
    for (const body of page.bodies) body.swing(amplitudes);
  } else {
    const [k, part] = located(page.frames, t);
    for (const body of page.bodies) body.goto(k, part);
  }
}

function nearest() {
  if (page.swings) return Math.round((page.time / PERIOD) * SWING);
  const [k, part] = located(page.frames, page.time);
  return part > 0.5 ? k + 1 : k;
}

function clock() {
  if (page.swings) return `${Math.round((360 * page.time) / PERIOD)}°`;
  const [factor, unit] = scaled(page.end - page.begin < 0.1 ? page.end - page.begin : 1, "s");
  const step = (page.end - page.begin) / factor / Math.max(page.steps, 1);
  return `${(page.time / factor).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step || 1)) + 1))).replace("-", "−")} ${unit}`;
}

function goto(t) {
  page.time = Math.max(page.begin, Math.min(page.end, t));
  ask();
  if (!page.playing) clearTimeout(page.saying), (page.saying = setTimeout(() => page.plots.forEach((plot) => plot.say(clock())), 150));
}

// To a frame: a time for which the page has all numbers as the run gave them.
function frame(k) {
  play(false);
  const index = Math.max(0, Math.min(page.steps, k));
  goto(page.swings ? (index * PERIOD) / SWING : page.frames[index]);
}

function snapped(t) {
  if (page.swings) return goto(t);
  const [k, part] = located(page.frames, t);
  play(false);
  goto(page.frames[Math.min(part > 0.5 ? k + 1 : k, page.frames.length - 1)]);
}

function play(on) {
  page.playing = on && page.steps > 0;
  if (page.playing && page.time >= page.end && !$("loop").checked) page.time = page.begin;
  page.last = performance.now();
  sharpness(1);
  $("play").textContent = page.playing ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", page.playing ? "Pause" : "Play");
  ask();
}

// --- controls --------------------------------------------------------------------------------------------------------

function option(value, text, chosen) {
  return Object.assign(document.createElement("option"), { value, textContent: text, selected: chosen });
}

function controls() {
  $("play").addEventListener("click", () => play(!page.playing));
  $("back").addEventListener("click", () => frame(nearest() - 1));
  $("forth").addEventListener("click", () => frame(nearest() + 1));
  $("scrub").max = page.steps;
  $("scrub").addEventListener("input", () => frame(+$("scrub").value));
  const long = page.end - page.begin, usual = page.swings ? 1 : long > 4 && long < 15 ? 1 : nice(long / 5);
  const speeds = new Set(page.swings ? [0.25, 0.5, 1, 2] : [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].map((x) => +(usual * x).toPrecision(3)).concat(1));
  $("speed").append(...[...speeds].sort((a, b) => a - b).map((x) => option(x, `× ${+x.toPrecision(3)}`, x === +usual.toPrecision(3))));
  page.speed = +$("speed").value;
  $("speed").addEventListener("change", () => (page.speed = +$("speed").value));
  for (const button of $("views").children) button.addEventListener("click", () => page.camera.look(button.dataset.view));
  const choices = [["body", "body"]];
  if (model.range.stress > 0) choices.push(["stress", "stress"]);
  if (model.range.speed > 0) choices.push(["speed", "speed"]);
  $("colour").append(...choices.map(([value, text]) => option(value, text)));
  $("colour").addEventListener("change", bar);
  $("magnify").addEventListener("input", () => {
    $("magnify-value").textContent = `× ${magnified()}`;
    ask();
  });
  if (page.swings) {
    $("magnify-label").firstChild.textContent = "size ";
    $("scrub").setAttribute("aria-label", "Phase");
    $("magnify").value = SIZES.indexOf(1);
  }
  $("magnify-label").hidden = !page.swings && !page.bodies.some((body) => body.rows.shape[1]);
  trails();
  for (const id of ["show-joints", "show-grid", "show-names"])
    $(id).addEventListener("change", () => {
      if (page.marks) page.marks.show($("show-joints").checked, $("show-grid").checked);
      ask();
    });
  $("show-joints").parentElement.hidden = !model.joints.length;
  $("theme").addEventListener("click", () => theme(isDark() ? "light" : "dark"));
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  if (page.swings) modes();
}

// What the address asks for: run.html#colour=stress&magnify=3&speed=0.1, where magnify is a place of its slider.
function wishes() {
  for (const id of ["colour", "magnify", "speed"]) {
    const before = $(id).value;
    if (!wish.has(id)) continue;
    $(id).value = wish.get(id);
    if ($(id).value !== wish.get(id)) $(id).value = before;
    for (const kind of ["input", "change"]) $(id).dispatchEvent(new Event(kind));
  }
}

const MAGNIFIED = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const SIZES = [0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 6, 8];

function magnified() {
  return (page.swings ? SIZES : MAGNIFIED)[+$("magnify").value];
}

function bar() {
  const by = $("colour").value;
  $("bar").hidden = by === "body";
  if (by !== "body") {
    const [factor, unit] = scaled(model.range[by], by === "stress" ? "Pa" : "m/s");
    $("bar-title").textContent = `${by === "stress" ? "von Mises stress" : "speed"} (${unit})`;
    [0, 0.5, 1].forEach((part, k) => ($("bar-ticks").children[k].textContent = digits((part * model.range[by]) / factor, 3)));
    $("bar-scale").setAttribute("aria-label", `colours from 0 to ${digits(model.range[by] / factor, 3)} ${unit}`);
  }
  ask();
}

function trails() {
  const points = page.bodies.flatMap((body, k) => Object.keys(body.ports).map((port) => [`${body.name}.${port}`, k, body.ports[port]]));
  $("trail-label").hidden = page.swings || !points.length || page.frames.length < 2;
  $("trail").append(option("", "none", true), ...points.map(([name], index) => option(index, name)));
  if (points.length > 1) $("trail").append(option("all", "all of these"));
  $("trail").addEventListener("change", () => {
    const value = $("trail").value, chosen = value === "" ? [] : value === "all" ? points : [points[+value]];
    if (page.marks) page.marks.follow(chosen.map(([, k, point]) => [page.bodies[k], point]));
    theme(document.documentElement.dataset.theme, false);
  });
}

function modes() {
  $("modes").hidden = false;
  $("add-plot").hidden = true;
  $("mode-list").replaceChildren(
    ...model.modes.map(({ number, omega, growth, is }, k) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      for (const text of [`${number}`, growth > 0 ? `grows ${digits(growth)} 1/s` : `${digits(omega)} rad/s`, `${digits(omega / (2 * Math.PI))} Hz`, is].filter(Boolean))
        button.append(Object.assign(document.createElement("span"), { textContent: text }));
      button.addEventListener("click", () => mode(k));
      item.append(button);
      return item;
    }),
  );
  mode(0);
}

function mode(k) {
  page.mode = Math.max(0, Math.min(model.modes.length - 1, k));
  [...$("mode-list").querySelectorAll("button")].forEach((button, i) => button.setAttribute("aria-pressed", String(i === page.mode)));
  const { number, omega, is } = model.modes[page.mode];
  $("subtitle").textContent = `mode ${number}: ${digits(omega)} rad/s${is && ", "}${is}`;
  ask();
}

function plots() {
  if (!model.quantities.length) return ($("add-plot").hidden = true);
  const add = (index) => page.plots.push(new Plot($("plots"), model.quantities, page.times, index, {
    onTime: snapped,
    onRemove: (plot) => page.plots.splice(page.plots.indexOf(plot), 1),
    colours: palette,
  }));
  model.plots.forEach(add);
  $("add-plot").addEventListener("click", () => {
    add(Math.min(3, model.quantities.length - 1));
    ask();
    page.plots[page.plots.length - 1].chooser.focus();
  });
}

function words() {
  $("title").textContent = model.title;
  const [factor, unit] = scaled(page.end - page.begin < 0.1 ? page.end - page.begin : 1, "s");
  if (!page.swings) $("subtitle").textContent = `${page.bodies.length} ${page.bodies.length === 1 ? "body" : "bodies"}, ${digits((page.end - page.begin) / factor, 4)} ${unit}`;
  for (const [name, text] of model.summary)
    $("summary").append(
      Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: text }),
    );
  $("made").textContent = `Made by phloat ${model.version}, drawn with three.js r${THREE.REVISION}. Nothing on this page is loaded from elsewhere.`;
}

function theme(name, remember = true) {
  document.documentElement.dataset.theme = name;
  if (page.marks) {
    page.renderer.setClearColor(css("--view"));
    page.marks.painted(css);
    page.bodies.forEach((body, k) => body.painted(bodyColour(k), css("--edge")));
    document.querySelectorAll("#legend .swatch").forEach((swatch, k) => (swatch.style.background = bodyColour(k)));
  }
  if (remember || page.plots.length) page.plots.forEach((plot) => plot.redraw());
  ask();
}

function keys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const own = event.target.closest("input, select, button, summary");
    if (event.key === " " && (!own || own.id === "scrub")) play(!page.playing);
    else if (own) return;
    else if (event.key === "ArrowLeft") frame(nearest() - (event.shiftKey ? 10 : 1));
    else if (event.key === "ArrowRight") frame(nearest() + (event.shiftKey ? 10 : 1));
    else if (event.key === "Home") frame(0);
    else if (event.key === "End") frame(page.steps);
    else return;
    event.preventDefault();
  });
}

// For tests: what stands on the page, in numbers.
function hook() {
  return Object.freeze({
    now: () => ({ time: page.time, playing: page.playing, frame: nearest(), frames: page.steps + 1, drawn: page.drawn, worked: page.worked, speed: page.speed, mode: page.mode }),
    place: (name, port) => {
      const body = page.bodies.find((one) => one.name === name);
      pose(page.time);
      for (const one of page.order) one.settle(magnified(), page.byName);
      return body.where(body.ports[port] ?? port).toArray();
    },
    points: (name) => page.byName.get(name).count,
    residual: (k) => page.plots[k].below,
    rail: (name) => page.marks.railOf(name),
    shades: (name) => Array.from(page.bodies.find((one) => one.name === name).values),
    camera: () => page.camera.lens.position.toArray(),
    webgl: Boolean(page.renderer),
    triangles: page.bodies.reduce((sum, body) => sum + body.triangles.length / 3, 0),
  });
}
