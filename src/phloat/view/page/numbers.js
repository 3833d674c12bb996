// Numbers as people read them: five digits, and prefixes of SI units.

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
const PREFIXED = /^(m|s|J|N|Pa|W|Hz|N m|m\/s)$/;

// [factor, unit] such that the largest value is between 1 and 1000; tiny values keep the bare unit.
function scaled(largest, unit) {
  if (!PREFIXED.test(unit) || !(largest > 0)) return [1, unit];
  const found = PREFIXES.find(([size]) => largest >= 0.9999 * size);
  return found ? [found[0], found[1] + unit] : [1, unit];
}

function digits(x, count = 5) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) return x.toExponential(count - 1).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  return x.toPrecision(count).replace("-", "−");
}

// 1, 2 or 5 times a power of ten, not above x.
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  const part = x / power;
  return (part >= 5 ? 5 : part >= 2 ? 2 : 1) * power;
}

// Ticks between two numbers, some `wanted` of them, with as many decimals as they need.
function ticks(low, high, wanted) {
  const step = nice((high - low) / Math.max(wanted, 1) * 1.6), out = [];
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    const value = k * step;
    const wide = Math.abs(high) >= 1e5 || Math.abs(low) >= 1e5 || step < 1e-4;
    const text = value === 0 ? "0" : wide ? value.toExponential(1).replace("e+", "e") : value.toFixed(Math.min(decimals, 6));
    out.push([value, text.replace(/-/g, "−")]);
  }
  return out;
}
