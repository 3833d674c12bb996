// Plots over time: lines of one quantity, a cursor that all share, and values at it.

class Plot {
  constructor(parent, quantities, times, chosen, { onTime, onRemove, colours }) {
    Object.assign(this, { quantities, times, onTime, colours });
    this.figure = document.createElement("figure");
    this.figure.className = "plot";
    const head = document.createElement("div");
    this.chooser = document.createElement("select");
    this.chooser.setAttribute("aria-label", "Quantity of this plot");
    this.fill();
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = "×";
    remove.setAttribute("aria-label", "Remove this plot");
    remove.addEventListener("click", () => {
      this.figure.remove();
      this.watch.disconnect();
      onRemove(this);
    });
    head.append(this.chooser, remove);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.tabIndex = -1;
    this.line = document.createElement("i");
    this.line.setAttribute("aria-hidden", "true");
    const field = document.createElement("div");
    field.className = "field";
    field.append(this.canvas, this.line);
    this.values = document.createElement("ul");
    this.figure.append(head, field, this.values);
    parent.append(this.figure);
    this.chooser.addEventListener("change", () => this.choose(+this.chooser.value));
    for (const name of ["pointerdown", "pointermove"])
      this.canvas.addEventListener(name, (event) => {
        if (name === "pointerdown") this.canvas.setPointerCapture(event.pointerId);
        if (event.buttons & 1) onTime(this.timeAt(event));
      });
    this.watch = new ResizeObserver(() => this.redraw());
    this.watch.observe(this.canvas);
    this.choose(chosen);
  }

  fill() {
    const groups = new Map();
    this.quantities.forEach((quantity, index) => {
      if (!groups.has(quantity.group)) {
        const group = document.createElement("optgroup");
        group.label = quantity.group;
        groups.set(quantity.group, group);
        this.chooser.append(group);
      }
      const option = document.createElement("option");
      option.value = index;
      option.textContent = quantity.name;
      groups.get(quantity.group).append(option);
    });
  }

  choose(index) {
    this.chooser.value = index;
    this.quantity = this.quantities[index];
    this.canvas.setAttribute("aria-label", `${this.quantity.name} over time`);
    const { lines, unit, residual } = this.quantity;
    Object.assign(this, range(lines.map(({ values }) => values), unit));
    this.below = residual && { ...range([residual], unit), values: residual };
    this.figure.classList.toggle("balance", Boolean(residual));
    this.values.replaceChildren(
      ...lines.concat(residual ? [{ name: "residual" }] : []).map(({ name }, k) => {
        const item = document.createElement("li"), swatch = document.createElement("span"), value = document.createElement("b");
        swatch.className = "swatch";
        swatch.style.background = this.colour(k);
        item.append(swatch, document.createTextNode(name), value);
        return item;
      }),
    );
    this.redraw();
  }

  // The sum of others is a broad grey line behind them.
  isTotal(k) {
    return this.quantity.lines.length > 1 && /^H( − H\(0\))?$/.test(this.quantity.lines[k].name);
  }

  colour(k) {
    if (k === this.quantity.lines.length) return getComputedStyle(document.documentElement).getPropertyValue("--ink");
    if (this.isTotal(k)) return getComputedStyle(document.documentElement).getPropertyValue("--total");
    const before = this.quantity.lines.slice(0, k).filter((_, i) => this.isTotal(i)).length;
    return this.colours()[(k - before) % this.colours().length];
  }

  timeAt(event) {
    const box = this.canvas.getBoundingClientRect(), { left, width } = this.frame;
    const part = Math.max(0, Math.min(1, (event.clientX - box.left - left) / width));
    return this.times[0] + part * (this.times[this.times.length - 1] - this.times[0]);
  }

  redraw() {
    const ratio = window.devicePixelRatio || 1, wide = this.canvas.clientWidth, tall = this.canvas.clientHeight;
    if (!wide || !tall) return;
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(tall * ratio);
    const css = getComputedStyle(document.documentElement), ink = css.getPropertyValue("--soft"), line = css.getPropertyValue("--line");
    const draw = this.canvas.getContext("2d");
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.font = "11px system-ui, sans-serif";
    const height = tall - 36, above = this.below ? Math.round(0.62 * height) : height; // of the lines; the residual stands below
    const rows = ticks(this.low, this.high, (above + 36) / 34), few = this.below ? ticks(this.below.low, this.below.high, 1.6) : [];
    const left = 14 + Math.max(...[...rows, ...few].map(([, text]) => draw.measureText(text).width)), frame = { left, top: 16, width: wide - left - 10, height };
    this.frame = frame;
    const t0 = this.times[0], t1 = this.times[this.times.length - 1], [second, clock] = scaled(t1 - t0 < 0.1 ? t1 - t0 : 1, "s");
    const x = (t) => frame.left + (frame.width * (t - t0)) / (t1 - t0 || 1), y = (v) => frame.top + above * (1 - (v - this.low) / (this.high - this.low));
    Object.assign(this, { x, y });
    draw.lineWidth = 1;
    draw.strokeStyle = line;
    draw.fillStyle = ink;
    draw.textBaseline = "middle";
    draw.textAlign = "right";
    const low = frame.top + above + 24, under = (v) => low + (frame.top + height - low) * (1 - (v - this.below.low) / (this.below.high - this.below.low));
    for (const [[, text], at] of [...rows.map((row) => [row, y(row[0])]), ...few.map((row) => [row, under(row[0])])]) {
      stroke(draw, [[frame.left, at], [frame.left + frame.width, at]]);
      draw.fillText(text, frame.left - 5, at);
    }
    draw.textBaseline = "top";
    draw.textAlign = "center";
    for (const [value, text] of ticks(t0 / second, t1 / second, frame.width / 70)) {
      stroke(draw, [[x(value * second), frame.top], [x(value * second), frame.top + frame.height]]);
      if (x(value * second) < frame.left + frame.width - 34) draw.fillText(text, x(value * second), frame.top + frame.height + 5);
    }
    draw.textAlign = "right";
    draw.fillText(`t (${clock})`, wide - 4, frame.top + frame.height + 5);
    draw.textAlign = "left";
    draw.textBaseline = "top";
    if (this.unit) draw.fillText(`(${this.unit})`, 4, 0);
    if (this.below) draw.fillText(`residual (${this.below.unit}), at most ${digits(this.below.size / this.below.factor, 2)} ${this.below.unit}`, frame.left, low - 17);
    draw.save();
    draw.beginPath();
    draw.rect(frame.left, frame.top - 1, frame.width, frame.height + 2);
    draw.clip();
    draw.lineJoin = "round";
    const along = (values, at) => stroke(draw, Array.from(values, (value, i) => [x(this.times[i]), at(value)]));
    if (this.below) {
      draw.lineWidth = 1;
      draw.strokeStyle = css.getPropertyValue("--ink");
      along(this.below.values, (value) => under(value / this.below.factor));
    }
    const order = this.quantity.lines.map((line, k) => [line, k]).sort((a, b) => this.isTotal(b[1]) - this.isTotal(a[1]));
    order.forEach(([{ values }, k]) => {
      draw.lineWidth = this.isTotal(k) ? 4.5 : 1.6;
      draw.strokeStyle = this.colour(k);
      draw.setLineDash(k >= this.colours().length ? [5, 3] : []);
      along(values, (value) => y(value / this.factor));
    });
    draw.restore();
    this.values.querySelectorAll(".swatch").forEach((swatch, k) => (swatch.style.background = this.colour(k)));
    this.line.style.top = `${frame.top}px`;
    this.line.style.height = `${frame.height}px`;
    if (this.now === undefined) return;
    this.cursor(this.now);
    this.tell();
  }

  // The cursor at a time: a line over the canvas, which is not drawn again.
  cursor(t) {
    this.now = t;
    if (!this.frame) return;
    this.line.style.transform = `translateX(${this.x(t).toFixed(1)}px)`;
  }

  // The values at the cursor.
  tell() {
    const [k, part] = located(this.times, this.now), told = [], { lines } = this.quantity;
    lines.concat(this.below ? [{ name: "residual", ...this.below }] : []).forEach(({ name, values, factor = this.factor, unit = this.unit }, line) => {
      const value = part ? values[k] + part * (values[k + 1] - values[k]) : values[k];
      const text = `${digits(value / factor)}${unit ? ` ${unit}` : ""}`;
      this.values.children[line].lastChild.textContent = text;
      told.push(`${name} ${text}`);
    });
    this.told = told;
  }

  // For screen readers, when the time stands still.
  say(clock) {
    this.canvas.setAttribute("aria-label", `${this.quantity.name} over time; at ${clock}: ${(this.told || []).join(", ")}`);
  }
}

// The scale of some lines: the factor and the prefixed unit of their largest value, and their ends with a margin.
function range(lines, of) {
  let low = Infinity, high = -Infinity;
  for (const values of lines) for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const size = Math.max(Math.abs(low), Math.abs(high)), middle = 0.5 * (low + high), [factor, unit] = scaled(size, of);
  const margin = low === high ? 0.5 * (Math.abs(middle) || 1) : 0.06 * Math.max(high - low, 1e-6 * Math.abs(middle), 1e-300);
  return { factor, unit, size, low: (low - margin) / factor, high: (high + margin) / factor };
}

function stroke(draw, points) {
  draw.beginPath();
  points.forEach(([x, y]) => draw.lineTo(x, y));
  draw.stroke();
}
