// The numbers of the page: one compressed block, cut into typed arrays. Matrices lie column by column.

const model = JSON.parse(document.getElementById("document").textContent);
const KINDS = { f8: [Float64Array, 8], f4: [Float32Array, 4], u4: [Uint32Array, 4], i2: [Int16Array, 2] };

async function unpacked() {
  const text = atob(document.getElementById("block").textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let start = 0;
  return model.arrays.map((said) => {
    const raw = bytes.subarray(start, start + said.bytes);
    start += said.bytes;
    return typed(raw, said);
  });
}

// Bytes of the same place stand together in the block; 16-bit columns have a scale each.
function typed(raw, { kind, shape, scale }) {
  const [Kind, width] = KINDS[kind];
  const count = raw.length / width, own = new Uint8Array(raw.length);
  for (let b = 0; b < width; b++) for (let i = 0; i < count; i++) own[i * width + b] = raw[b * count + i];
  const values = new Kind(own.buffer);
  if (!scale) return { values, shape };
  const [rows, columns] = shape, floats = new Float32Array(count);
  for (let k = 0; k < columns; k++) for (let i = 0; i < rows; i++) floats[k * rows + i] = values[k * rows + i] * scale[k];
  return { values: floats, shape };
}

// x, y, z of each point in turn, from columns.
function interleaved({ values, shape: [rows, columns] }) {
  const out = new Float32Array(values.length);
  for (let k = 0; k < columns; k++) for (let i = 0; i < rows; i++) out[i * columns + k] = values[k * rows + i];
  return out;
}

// Where t lies among ascending times: the place before it and the part of the way to the next.
function located(times, t) {
  let low = 0, high = times.length - 1;
  if (high === 0 || t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high - 1, 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return [low, (t - times[low]) / (times[low + 1] - times[low])];
}
