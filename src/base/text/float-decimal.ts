/** Formats f64 values as Rust's `Display` and serde_json do. */

/** Rust's name for a non-finite number; null if the number is finite. */
function notFinite(value: number): string | null {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return null;
  return value > 0 ? 'inf' : '-inf';
}

const signOf = (value: number): string => (value < 0 || Object.is(value, -0) ? '-' : '');

/** Shortest text without an exponent that parses back to the same number: Rust's `{}`. */
export function decimalText(value: number): string {
  const special = notFinite(value);
  if (special !== null) return special;
  const [mantissa = '0', power = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const point = Number(power) + 1;
  if (point <= 0) return `${signOf(value)}0.${'0'.repeat(-point)}${digits}`;
  const whole = digits.slice(0, point).padEnd(point, '0');
  const fraction = digits.slice(point);
  return `${signOf(value)}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const FRACTION_BITS = 52n;
const FRACTION_MASK = (1n << FRACTION_BITS) - 1n;
const EXPONENT_BIAS = 1075;

/** Splits the absolute value of a finite f64 into an integer and a power of two. */
function parts(value: number): { whole: bigint; power: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const raw = bits.getBigUint64(0);
  const exponent = Number(raw >> FRACTION_BITS);
  const fraction = raw & FRACTION_MASK;
  if (exponent === 0) return { whole: fraction, power: 1 - EXPONENT_BIAS };
  return { whole: fraction | (1n << FRACTION_BITS), power: exponent - EXPONENT_BIAS };
}

/** value / 2^bits, rounded to nearest, ties to even. */
function shiftRightToEven(value: bigint, bits: bigint): bigint {
  const quotient = value >> bits;
  const rest = value - (quotient << bits);
  const half = 1n << (bits - 1n);
  if (rest > half || (rest === half && (quotient & 1n) === 1n)) return quotient + 1n;
  return quotient;
}

/**
 * The exact value rounded to `digits` fractional digits, ties to even: Rust's `{:.digits$}`. `toFixed` rounds ties up
 * and uses exponents from 10^21 on.
 */
export function fixedText(value: number, digits: number): string {
  const special = notFinite(value);
  if (special !== null) return special;
  const { whole, power } = parts(value);
  const scaled = whole * 10n ** BigInt(digits);
  const units = power < 0 ? shiftRightToEven(scaled, BigInt(-power)) : scaled << BigInt(power);
  const text = String(units).padStart(digits + 1, '0');
  const point = text.length - digits;
  return `${signOf(value)}${text.slice(0, point)}${digits === 0 ? '' : `.${text.slice(point)}`}`;
}

/** Text of a finite f64 as serde_json writes it: shortest digits, always with a point or an exponent. */
export function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [, digits = '', power = '0'] = /^([-\d.]+)e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  const exponent = Number(power);
  if (exponent >= 16 || exponent < -5) return `${digits}e${power}`;
  const count = digits.replace(/[-.]/g, '').length;
  return value.toFixed(Math.max(1, count - 1 - exponent));
}
