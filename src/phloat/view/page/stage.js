// The view: bodies and marks before a camera, the legend, names and axes over it.

const NAMED = 14; // bodies that the legend can hold
const SLOW = 45; // ms from frame to frame that look jerky

function stage() {
  const size = new THREE.Vector3(...model.box[1]).distanceTo(new THREE.Vector3(...model.box[0])) || 1;
  page.camera = new Camera($("view"), model.up, padded(model.box, size), () => {
    if (page.renderer) compass();
    ask();
  });
  try {
    page.renderer = new THREE.WebGLRenderer({ antialias: !drawnBySoftware() });
  } catch {
    $("no-webgl").hidden = false;
    for (const id of ["views", "axes", "legend", "grid-size", "options"]) $(id).hidden = true;
    return;
  }
  page.scene = new THREE.Scene();
  sharpness(1);
  const canvas = page.renderer.domElement;
  canvas.className = "gl";
  canvas.setAttribute("aria-hidden", "true");
  $("view").prepend(canvas);
  page.scene.add(new THREE.HemisphereLight(0xffffff, 0xb8c0c8, 2.4));
  page.lamp = new THREE.DirectionalLight(0xffffff, 1.9);
  page.scene.add(page.lamp, page.lamp.target);
  page.bodies.forEach((body, k) => body.build(page.scene, bodyColour(k), page.swings));
  page.marks = new Marks(page.scene, page.bodies, size);
  $("grid-size").textContent = page.marks.gridText;
  const fit = () => {
    const { clientWidth, clientHeight } = $("view");
    page.renderer.setSize(clientWidth, clientHeight, false);
    page.camera.resized(clientWidth, clientHeight);
  };
  page.camera.look(model.plane ? "z" : "iso");
  new ResizeObserver(fit).observe($("view"));
  fit();
  legend();
}

// Without a graphics card smooth edges cost more than they are worth.
function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const said = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = said ? String(gl.getParameter(said.UNMASKED_RENDERER_WEBGL)) : "";
  if (gl) gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

// Fewer pixels while it plays too slowly, all of them again when it stands.
function sharpness(part) {
  if (!page.renderer || page.sharp === part) return;
  page.sharp = part;
  page.slow = page.counted = 0;
  page.renderer.setPixelRatio(part * Math.min(window.devicePixelRatio || 1, 2));
}

function smoother(interval) {
  page.slow += interval;
  page.counted += 1;
  if (page.counted < 12) return;
  if (page.slow / page.counted > SLOW && page.sharp > 0.5) sharpness(Math.max(0.5, 0.8 * page.sharp));
  page.slow = page.counted = 0;
}

function padded([low, high], size) {
  const least = 0.02 * size;
  return [low.map((x, k) => Math.min(x, 0.5 * (x + high[k]) - least)), high.map((x, k) => Math.max(x, 0.5 * (x + low[k]) + least))];
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

// Black shows on white paper only.
function palette() {
  return model.colours.map((colour) => (colour === "#000000" ? (isDark() ? "#C9CED3" : "#444B52") : colour));
}

function bodyColour(k) {
  return palette()[k % model.colours.length];
}

function legend() {
  const items = page.bodies.slice(0, NAMED).map((body, k) => {
    const item = document.createElement("li"), button = document.createElement("button"), swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = bodyColour(k);
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(swatch, document.createTextNode(body.name));
    button.addEventListener("click", () => {
      body.shown = !body.shown;
      button.setAttribute("aria-pressed", String(body.shown));
      ask();
    });
    item.append(button);
    return item;
  });
  if (page.bodies.length > NAMED) {
    const more = document.createElement("li");
    more.textContent = `and ${page.bodies.length - NAMED} more`;
    items.push(more);
  }
  $("legend").replaceChildren(...items);
}

function names() {
  const on = $("show-names").checked && page.renderer, box = $("labels");
  if (!on) return box.replaceChildren();
  if (box.children.length !== page.bodies.length)
    box.replaceChildren(...page.bodies.map((body) => Object.assign(document.createElement("span"), { textContent: body.name })));
  const { clientWidth, clientHeight } = box, at = new THREE.Vector3(), one = new THREE.Vector3();
  page.bodies.forEach((body, k) => {
    const some = Object.values(body.ports), chosen = some.length ? some : [0, body.count - 1];
    at.set(0, 0, 0);
    for (const point of chosen) at.add(body.where(point, one));
    at.multiplyScalar(1 / chosen.length).project(page.camera.lens);
    const label = box.children[k];
    label.hidden = !body.shown || Math.abs(at.z) > 1;
    label.style.transform = `translate(${(0.5 * (at.x + 1) * clientWidth).toFixed(1)}px, ${(0.5 * (1 - at.y) * clientHeight).toFixed(1)}px) translate(-50%, -130%)`;
  });
}

// The axes x, y, z as the camera sees them.
function compass() {
  const canvas = $("axes"), ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.height = 72 * ratio;
  const draw = canvas.getContext("2d");
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw.font = "12px system-ui, sans-serif";
  draw.textAlign = "center";
  draw.textBaseline = "middle";
  draw.lineWidth = 2;
  const turn = page.camera.lens.quaternion.clone().invert();
  for (const [name, colour, v] of AXES.map(([name, colour], k) => [name, colour, new THREE.Vector3().setComponent(k, 1).applyQuaternion(turn)]).sort((a, b) => a[2].z - b[2].z)) {
    draw.strokeStyle = draw.fillStyle = colour;
    stroke(draw, [[36, 36], [36 + 22 * v.x, 36 - 22 * v.y]]);
    if (Math.hypot(v.x, v.y) > 0.2) draw.fillText(name, 36 + 30 * v.x, 36 - 30 * v.y);
  }
}
