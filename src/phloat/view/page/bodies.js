// Bodies: points that coordinates move in the axes of the body, and the frame that moves these.

const VIRIDIS = [
  "#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
];
const SHADES = 256;

// Shades as the renderer wants them, linear red, green, blue of each.
function shades() {
  const out = new Float32Array(3 * SHADES), a = new THREE.Color(), b = new THREE.Color();
  for (let i = 0; i < SHADES; i++) {
    const at = (i / (SHADES - 1)) * (VIRIDIS.length - 1), k = Math.min(Math.floor(at), VIRIDIS.length - 2);
    a.set(VIRIDIS[k]).lerp(b.set(VIRIDIS[k + 1]), at - k);
    out.set([a.r, a.g, a.b], 3 * i);
  }
  return out;
}

// Rows of all x, all y, all z as rows of x, y, z of each point in turn.
function byPoint({ values, shape }) {
  const out = new Float32Array(values.length), [size, columns] = shape, count = size / 3;
  for (let c = 0; c < columns; c++) for (let k = 0; k < 3; k++) for (let i = 0; i < count; i++) out[c * size + 3 * i + k] = values[c * size + k * count + i];
  return { values: out, shape };
}

// A matrix times a vector, most of which is zero.
function product({ values, shape: [rows, columns] }, x) {
  const out = new Float32Array(rows);
  for (let c = 0; c < columns; c++) if (x[c]) for (let i = 0; i < rows; i++) out[i] += x[c] * values[c * rows + i];
  return out;
}

class Body {
  constructor(said, arrays, frames, shade) {
    const look = said.look, own = (index) => arrays[index];
    Object.assign(this, { name: said.name, kind: look.kind, frames, shade, ports: look.ports, thin: look.thin, shown: true });
    this.rest = interleaved(own(look.points));
    this.count = this.rest.length / 3;
    this.rows = byPoint(own(look.rows));
    this.cauchy = (look.cauchy || []).map((index) => (index === null ? null : own(index).values));
    this.normals = look.normals === undefined ? null : interleaved(own(look.normals));
    this.triangles = own(look.triangles).values;
    this.edges = own(look.edges).values;
    for (const part of ["r", "q", "v", "omega", "eta", "rates", "sigma"]) {
      this[part] = own(said[part]);
      this[`${part}_now`] = new Float32Array(this[part].shape[1]);
    }
    this.points = this.rest.slice(); // in body axes, as drawn
    if (said.twists !== undefined) Object.assign(this, { twists: own(said.twists), shares: own(said.shares) });
    this.hangs = said.hangs && { ...said.hangs, slip: own(said.hangs.slip) };
    this.place = new THREE.Vector3();
    this.turn = new THREE.Quaternion();
    this.values = new Float32Array(this.count);
    this.moved = new Float32Array(this.rest.length);
  }

  // Everything that changes, at a place between two frames: lines between them, and the shorter way round for the turn.
  goto(k, part) {
    for (const name of ["r", "q", "v", "omega", "eta", "rates", "sigma"]) {
      const { values, shape: [times, columns] } = this[name], now = this[`${name}_now`];
      for (let c = 0; c < columns; c++) {
        const a = values[c * times + k];
        now[c] = part ? a + part * (values[c * times + k + 1] - a) : a;
      }
    }
    this.place.fromArray(this.r_now);
    this.turn.fromArray(this.q_now).normalize();
  }

  // A mode, by the amplitudes of all modes.
  swing(amplitudes) {
    this.goto(0, 0);
    this.eta_now.set(product(this.shares, amplitudes));
    this.twist = product(this.twists, amplitudes);
    if (this.hangs) this.hangs.way = product(this.hangs.slip, amplitudes);
  }

  // Deforms the points; in a mode the axes turn by a rotation vector, too, and the joint is put at its other end.
  settle(factor, bodies) {
    this.deform(this.points, this.rest, this.eta_now, factor);
    if (!this.twist) return;
    this.place.fromArray(this.r_now);
    this.turn.fromArray(this.q_now);
    const way = new THREE.Vector3().fromArray(this.twist), axis = new THREE.Vector3().fromArray(this.twist, 3), angle = axis.length();
    this.place.addScaledVector(way.applyQuaternion(this.turn), factor);
    if (angle) this.turn.multiply(new THREE.Quaternion().setFromAxisAngle(axis.divideScalar(angle), factor * angle));
    if (!this.hangs) return;
    const { point, on, gap, way: slip } = this.hangs;
    const target = on.body === undefined ? new THREE.Vector3(...on.at) : bodies.get(on.body).where(on.point);
    this.place.add(target.addScaledVector(way.fromArray(slip), factor).sub(this.where(point, axis)).add(axis.fromArray(gap)));
  }

  // points + factor · rows · η, into an array.
  deform(out, start, eta, factor) {
    const { values, shape: [size, columns] } = this.rows;
    if (start) out.set(start);
    else out.fill(0);
    for (let c = 0; c < columns; c++) {
      const share = factor * eta[c], first = c * size;
      if (share) for (let i = 0; i < size; i++) out[i] += share * values[first + i];
    }
  }

  // Von Mises' stress of every point.
  stresses() {
    const { count, values, sigma_now: sigma } = this, own = this.scratch || (this.scratch = Array.from({ length: 6 }, () => new Float32Array(count)));
    this.cauchy.forEach((rows, part) => {
      own[part].fill(0);
      if (rows)
        for (let c = 0; c < sigma.length; c++) {
          const share = sigma[c], first = c * count;
          if (share) for (let i = 0; i < count; i++) own[part][i] += share * rows[first + i];
        }
    });
    const [x, y, z, yz, xz, xy] = own;
    for (let i = 0; i < count; i++) {
      const squared = 0.5 * ((x[i] - y[i]) ** 2 + (y[i] - z[i]) ** 2 + (z[i] - x[i]) ** 2);
      values[i] = Math.sqrt(squared + 3 * (yz[i] ** 2 + xz[i] ** 2 + xy[i] ** 2));
    }
  }

  // The speed of every point: |v + ω × y + Φ η̇|, y as it truly is.
  speeds(factor) {
    const { count, values, moved, points, rest, v_now: v, omega_now: w } = this;
    this.deform(moved, null, this.rates_now, 1);
    for (let i = 0; i < count; i++) {
      const j = 3 * i, x = rest[j] + (points[j] - rest[j]) / factor;
      const y = rest[j + 1] + (points[j + 1] - rest[j + 1]) / factor, z = rest[j + 2] + (points[j + 2] - rest[j + 2]) / factor;
      const a = v[0] + w[1] * z - w[2] * y + moved[j];
      const b = v[1] + w[2] * x - w[0] * z + moved[j + 1];
      const c = v[2] + w[0] * y - w[1] * x + moved[j + 2];
      values[i] = Math.sqrt(a * a + b * b + c * c);
    }
  }

  // A point of the body where it is drawn, in inertial axes.
  where(point, out = new THREE.Vector3()) {
    return out.fromArray(this.points, 3 * point).applyQuaternion(this.turn).add(this.place);
  }

  // --- what three.js draws ---

  // With a ghost, which stays where the body is at rest.
  build(scene, colour, haunted) {
    const positions = new THREE.BufferAttribute(this.points, 3).setUsage(THREE.DynamicDrawUsage);
    this.group = new THREE.Group();
    this.positions = positions;
    if (this.triangles.length) {
      const geometry = new THREE.BufferGeometry().setAttribute("position", positions).setIndex(new THREE.BufferAttribute(this.triangles, 1));
      if (this.normals) geometry.setAttribute("normal", new THREE.BufferAttribute(this.normals, 3));
      this.tints = new THREE.BufferAttribute(new Float32Array(this.rest.length), 3).setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute("color", this.tints);
      const options = { flatShading: !this.normals, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
      this.plain = new THREE.MeshLambertMaterial({ ...options, color: colour });
      this.tinted = new THREE.MeshLambertMaterial({ ...options, vertexColors: true });
      this.mesh = new THREE.Mesh(geometry, this.plain);
      this.mesh.frustumCulled = false;
      this.group.add(this.mesh);
    } else {
      const geometry = new THREE.BufferGeometry().setAttribute("position", positions);
      this.dots = new THREE.Points(geometry, new THREE.PointsMaterial({ color: colour, size: 4, sizeAttenuation: false }));
      this.dots.frustumCulled = false;
      this.group.add(this.dots);
    }
    if (this.edges.length) {
      const geometry = new THREE.BufferGeometry().setAttribute("position", positions).setIndex(new THREE.BufferAttribute(this.edges, 1));
      const material = this.thin ? new THREE.LineBasicMaterial() : new THREE.LineBasicMaterial({ transparent: true, opacity: 0.45 });
      if (this.tints) geometry.setAttribute("color", this.tints);
      this.lines = new THREE.LineSegments(geometry, material);
      this.bare = material;
      this.shaded = new THREE.LineBasicMaterial({ vertexColors: true });
      this.lines.frustumCulled = false;
      this.group.add(this.lines);
    }
    if (haunted && this.mesh) {
      const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(this.rest, 3)).setIndex(this.mesh.geometry.index);
      if (this.normals) geometry.setAttribute("normal", this.mesh.geometry.attributes.normal);
      const material = new THREE.MeshLambertMaterial({ color: "#8a949d", transparent: true, opacity: 0.25, depthWrite: false, side: THREE.DoubleSide, flatShading: !this.normals, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 });
      this.ghost = new THREE.Mesh(geometry, material);
      this.goto(0, 0);
      this.ghost.position.copy(this.place);
      this.ghost.quaternion.copy(this.turn);
      scene.add(this.ghost);
    }
    scene.add(this.group);
  }

  painted(colour, edge) {
    if (this.plain) this.plain.color.set(colour);
    if (this.dots) this.dots.material.color.set(colour);
    if (this.lines) this.bare.color.set(this.thin ? colour : edge);
  }

  // The body as it is now; `by` is what its colours show, `range` the value of the last shade.
  draw(factor, by, range, bodies) {
    this.settle(factor, bodies);
    if (!this.group) return;
    this.positions.needsUpdate = true;
    this.group.position.copy(this.place);
    this.group.quaternion.copy(this.turn);
    this.group.visible = this.shown;
    if (this.ghost) this.ghost.visible = this.shown;
    const shown = (by === "stress" && this.cauchy.length) || by === "speed";
    if (!this.mesh) return;
    this.mesh.material = shown ? this.tinted : this.plain;
    if (this.thin) this.lines.material = shown ? this.shaded : this.bare;
    if (shown) {
      if (by === "stress") this.stresses();
      else this.speeds(factor);
      const { values, tints: { array }, shade } = this, scale = range > 0 ? (SHADES - 1) / range : 0;
      for (let i = 0; i < this.count; i++) {
        const k = 3 * Math.min(SHADES - 1, Math.round(values[i] * scale));
        array[3 * i] = shade[k];
        array[3 * i + 1] = shade[k + 1];
        array[3 * i + 2] = shade[k + 2];
      }
      this.tints.needsUpdate = true;
    }
  }
}
