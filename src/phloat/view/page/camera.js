// A camera that turns about a point: by mouse, by fingers and by keys.

const FIELD = 30; // degrees from top to bottom
const MARGIN = 1.18; // around what is fitted

class Camera {
  constructor(element, up, box, changed) {
    Object.assign(this, { element, box, changed });
    this.lens = new THREE.PerspectiveCamera(FIELD, 1, 1e-3, 1e3);
    this.up = new THREE.Vector3(...up);
    const side = Math.abs(this.up.z) > 0.5 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 0, 1);
    this.first = side.addScaledVector(this.up, -side.dot(this.up)).normalize();
    this.second = new THREE.Vector3().crossVectors(this.up, this.first);
    this.front = Math.abs(this.up.z) > 0.5 ? -Math.PI / 2 : 0; // x to the right
    this.target = new THREE.Vector3();
    this.distance = 1;
    this.yaw = this.pitch = 0;
    this.fingers = new Map();
    this.listen();
  }

  // The direction from the target to the camera, and what is up on the screen.
  direction(out = new THREE.Vector3()) {
    const { yaw, pitch } = this;
    return out.copy(this.first).multiplyScalar(Math.cos(yaw)).addScaledVector(this.second, Math.sin(yaw))
      .multiplyScalar(Math.cos(pitch)).addScaledVector(this.up, Math.sin(pitch));
  }

  upward(out = new THREE.Vector3()) {
    const { yaw, pitch } = this;
    return out.copy(this.first).multiplyScalar(Math.cos(yaw)).addScaledVector(this.second, Math.sin(yaw))
      .multiplyScalar(-Math.sin(pitch)).addScaledVector(this.up, Math.cos(pitch));
  }

  look(name) {
    this.free = false;
    if (name === "iso") {
      this.yaw = this.front + Math.PI / 6;
      this.pitch = 0.42;
    } else if (name !== "fit") {
      const way = new THREE.Vector3(name === "x" ? 1 : 0, name === "y" ? 1 : 0, name === "z" ? 1 : 0);
      const rise = way.dot(this.up);
      if (name === "y" && Math.abs(this.up.z) > 0.5) way.negate(); // from the front
      this.pitch = Math.asin(Math.max(-1, Math.min(1, rise)));
      this.yaw = Math.abs(rise) > 0.999 ? this.front : Math.atan2(way.dot(this.second), way.dot(this.first));
    }
    this.fit();
  }

  // So far away that the whole box is seen.
  fit() {
    const [low, high] = this.box.map((corner) => new THREE.Vector3(...corner));
    this.target.addVectors(low, high).multiplyScalar(0.5);
    const back = this.direction(), top = this.upward(), right = new THREE.Vector3().crossVectors(top, back);
    const half = new THREE.Vector3().subVectors(high, low).multiplyScalar(0.5), corner = new THREE.Vector3();
    const tall = Math.tan((FIELD * Math.PI) / 360), wide = tall * this.lens.aspect;
    this.size = half.length() || 1;
    this.distance = 1e-3 * this.size;
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
      const reach = Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(top)) / tall);
      this.distance = Math.max(this.distance, corner.dot(back) + MARGIN * reach);
    }
    this.update();
  }

  update() {
    const back = this.direction();
    this.lens.position.copy(this.target).addScaledVector(back, this.distance);
    this.lens.up.copy(this.upward());
    this.lens.lookAt(this.target);
    this.lens.near = this.distance / 200;
    this.lens.far = this.distance + 60 * this.size;
    this.lens.updateProjectionMatrix();
    this.lens.updateMatrixWorld();
    this.changed();
  }

  // What nobody has moved yet stays fitted.
  resized(width, height) {
    this.lens.aspect = width / Math.max(height, 1);
    if (this.free) this.update();
    else this.fit();
  }

  turn(dx, dy) {
    this.free = true;
    this.yaw -= dx;
    this.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.pitch + dy));
    this.update();
  }

  // By parts of the height of the view.
  move(dx, dy) {
    this.free = true;
    const top = this.upward(), right = new THREE.Vector3().crossVectors(top, this.direction());
    const height = 2 * this.distance * Math.tan((FIELD * Math.PI) / 360);
    this.target.addScaledVector(right, -dx * height).addScaledVector(top, dy * height);
    this.update();
  }

  zoom(factor) {
    this.free = true;
    this.distance = Math.max(1e-3 * this.size, Math.min(50 * this.size, this.distance * factor));
    this.update();
  }

  listen() {
    const { element } = this;
    element.addEventListener("pointerdown", (event) => {
      if (event.target.closest("button")) return;
      element.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    element.addEventListener("pointermove", (event) => this.dragged(event));
    for (const end of ["pointerup", "pointercancel"])
      element.addEventListener(end, (event) => this.fingers.delete(event.pointerId));
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(0.3, Math.abs(event.deltaY) / 500)));
    }, { passive: false });
    element.addEventListener("keydown", (event) => this.pressed(event));
  }

  dragged(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const height = this.element.clientHeight, now = [event.clientX, event.clientY];
    const dx = (now[0] - before[0]) / height, dy = (now[1] - before[1]) / height;
    if (this.fingers.size === 2) {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      this.move(dx / 2, dy / 2);
      this.zoom(apart(before) / Math.max(apart(now), 1));
    } else if (event.shiftKey || event.buttons & 6) this.move(dx, dy);
    else this.turn(3 * dx, 3 * dy);
    this.fingers.set(event.pointerId, now);
  }

  pressed(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const view = { 1: "iso", 2: "x", 3: "y", 4: "z", 0: "fit" }[event.key];
    if (way && event.shiftKey) this.move(-0.05 * way[0], -0.05 * way[1]);
    else if (way) this.turn(0.1 * way[0], 0.1 * way[1]);
    else if (event.key === "+" || event.key === "=") this.zoom(0.85);
    else if (event.key === "-" || event.key === "−") this.zoom(1 / 0.85);
    else if (view) this.look(view);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
