// What stands around the bodies: joints, springs, the ground, its grid and axes, trails.

const AXES = [["x", "#c8553d"], ["y", "#2f9e6e"], ["z", "#3a78c2"]];

class Marks {
  constructor(scene, bodies, size) {
    Object.assign(this, { scene, size, byName: new Map(bodies.map((body) => [body.name, body])) });
    this.ink = new THREE.LineBasicMaterial();
    this.steel = new THREE.MeshLambertMaterial();
    this.hot = new THREE.MeshLambertMaterial();
    this.base = new THREE.MeshLambertMaterial({ flatShading: true });
    this.all = new THREE.Group();
    scene.add(this.all);
    this.joints = model.joints.map((joint) => this.joint(joint));
    this.springs = model.elements.map((element) => this.spring(element));
    this.grid();
    this.triad();
  }

  joint(said) {
    const h = said.size, mesh = new THREE.Mesh(shapeOf(said.kind, h), said.driven ? this.hot : this.steel);
    const axis = new THREE.Vector3(...said.axis);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis);
    const body = said.on.body === undefined ? null : this.byName.get(said.on.body);
    if (body) body.group.add(mesh);
    else this.all.add(mesh);
    if (said.ground && said.kind !== "Drive" && !said.rail) this.foot(said, h);
    return { name: said.name, mesh, body, point: said.on.point, at: said.on.at, rail: said.rail && this.rail(said, h) };
  }

  // A foot below what the ground holds.
  foot(said, h) {
    const foot = new THREE.Mesh(new THREE.ConeGeometry(1.5 * h, 2.6 * h, 4), this.base), up = new THREE.Vector3(...model.up);
    foot.position.fromArray(said.ground.at).addScaledVector(up, -1.3 * h);
    foot.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
    this.all.add(foot);
  }

  // A rod along which something slides, between two points of its body or of the ground.
  rail(said, h) {
    const rod = new THREE.Mesh(new THREE.CylinderGeometry(0.3 * h, 0.3 * h, 1, 10), this.steel);
    rod.frustumCulled = false;
    this.all.add(rod);
    return { rod, ends: said.rail };
  }

  // The ends of a rail as it is drawn, for tests.
  railOf(name) {
    const { rod } = this.joints.find((joint) => joint.name === name).rail;
    rod.updateMatrixWorld();
    return [-0.5, 0.5].map((y) => rod.localToWorld(new THREE.Vector3(0, y, 0)).toArray());
  }

  spring(said) {
    const turns = said.kind === "spring" ? 12 : 1, count = turns > 1 ? 2 * turns + 3 : 2;
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    const line = new THREE.Line(geometry, this.ink);
    line.frustumCulled = false;
    this.all.add(line);
    return { line, count, first: said.first, second: said.second };
  }

  place(end, out) {
    return end.body === undefined ? out.fromArray(end.at) : this.byName.get(end.body).where(end.point, out);
  }

  // A grid of round size, in the plane of a planar system or under one in space.
  grid() {
    const [low, high] = model.box.map((corner) => new THREE.Vector3(...corner)), up = new THREE.Vector3(...model.up);
    const normal = model.plane ? new THREE.Vector3(0, 0, 1) : up;
    const first = Math.abs(normal.z) > 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 0, 1);
    first.addScaledVector(normal, -first.dot(normal)).normalize();
    const second = new THREE.Vector3().crossVectors(normal, first);
    const half = new THREE.Vector3().subVectors(high, low).multiplyScalar(0.5), middle = new THREE.Vector3().addVectors(low, high).multiplyScalar(0.5);
    const reach = (v) => Math.abs(v.x) * half.x + Math.abs(v.y) * half.y + Math.abs(v.z) * half.z;
    const step = nice(Math.max(reach(first), reach(second), 0.1 * half.length()) / 2.4);
    const floor = middle.dot(normal) - reach(normal) - 0.004 * this.size, more = model.plane ? 14 : 2;
    const lines = [];
    const span = (v) => [Math.floor((middle.dot(v) - reach(v)) / step) - more, Math.ceil((middle.dot(v) + reach(v)) / step) + more];
    const [a0, a1] = span(first), [b0, b1] = span(second);
    const at = (a, b) => first.clone().multiplyScalar(a * step).addScaledVector(second, b * step).addScaledVector(normal, floor);
    for (let a = a0; a <= a1; a++) lines.push(at(a, b0), at(a, b1));
    for (let b = b0; b <= b1; b++) lines.push(at(a0, b), at(a1, b));
    this.floor = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(lines), new THREE.LineBasicMaterial());
    this.scene.add(this.floor);
    const [factor, unit] = scaled(step, "m");
    this.gridText = `grid ${+(step / factor).toPrecision(3)} ${unit}`;
  }

  triad() {
    this.origin = new THREE.Group();
    AXES.forEach(([, colour], k) => {
      const tip = new THREE.Vector3().setComponent(k, 0.07 * this.size);
      const geometry = new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), tip]);
      this.origin.add(new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour })));
    });
    this.scene.add(this.origin);
  }

  painted(css) {
    this.ink.color.set(css("--soft"));
    this.steel.color.set(css("--soft"));
    this.base.color.set(css("--grid-strong"));
    this.hot.color.set("#D55E00");
    this.floor.material.color.set(css("--grid"));
    if (this.trail) this.trail.material.color.set(css("--accent"));
  }

  draw() {
    const a = new THREE.Vector3(), b = new THREE.Vector3();
    for (const { mesh, body, point, at, rail } of this.joints) {
      if (body) mesh.position.fromArray(body.points, 3 * point);
      else mesh.position.fromArray(at);
      if (!rail) continue;
      this.place(rail.ends[0], a);
      this.place(rail.ends[1], b).sub(a);
      rail.rod.scale.y = b.length();
      rail.rod.position.copy(a).addScaledVector(b, 0.5);
      rail.rod.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), b.normalize());
    }
    for (const { line, count, first, second } of this.springs) {
      this.place(first, a);
      this.place(second, b);
      coil(line.geometry.attributes.position, a, b, count, 0.012 * this.size);
    }
  }

  show(joints, grid) {
    this.all.visible = joints;
    for (const { mesh } of this.joints) mesh.visible = joints;
    this.floor.visible = this.origin.visible = grid;
  }

  // The way of some points through the whole run, as true as the frames have it.
  follow(chosen) {
    if (this.trail) {
      this.scene.remove(this.trail);
      this.trail.geometry.dispose();
      this.trail = null;
    }
    const lines = [];
    for (const [body, point] of chosen) {
      const way = [], keep = body.points;
      body.points = body.points.slice();
      for (let k = 0; k < body.frames.length; k++) {
        body.goto(k, 0);
        body.deform(body.points, body.rest, body.eta_now, 1);
        way.push(body.where(point));
      }
      body.points = keep;
      for (let k = 1; k < way.length; k++) lines.push(way[k - 1], way[k]);
    }
    if (!lines.length) return;
    this.trail = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(lines), new THREE.LineBasicMaterial({ transparent: true, opacity: 0.75 }));
    this.trail.frustumCulled = false;
    this.scene.add(this.trail);
  }
}

function shapeOf(kind, h) {
  if (kind === "Revolute" || kind === "Cylindrical") return new THREE.CylinderGeometry(0.8 * h, 0.8 * h, 1.9 * h, 20);
  if (kind === "Weld") return new THREE.BoxGeometry(1.1 * h, 1.1 * h, 1.1 * h);
  if (kind === "Prismatic" || kind === "Slide") return new THREE.BoxGeometry(1.2 * h, 2.4 * h, 1.2 * h);
  if (kind === "Planar") return new THREE.BoxGeometry(2.4 * h, 0.3 * h, 2.4 * h);
  return new THREE.SphereGeometry(0.9 * h, 20, 14);
}

// A zigzag between two points, straight at both ends.
function coil(attribute, a, b, count, width) {
  const way = new THREE.Vector3().subVectors(b, a);
  const side = new THREE.Vector3().crossVectors(way, Math.abs(way.z) > 0.9 * way.length() ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 0, 1));
  side.normalize().multiplyScalar(width);
  for (let k = 0; k < count; k++) {
    const part = k / (count - 1), out = k < 2 || k > count - 3 ? 0 : k % 2 ? 1 : -1;
    attribute.setXYZ(k, a.x + part * way.x + out * side.x, a.y + part * way.y + out * side.y, a.z + part * way.z + out * side.z);
  }
  attribute.needsUpdate = true;
}
