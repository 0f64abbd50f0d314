/**
 * e to the power of x, rounded to the nearest f64. `Math.exp` may be one digit in the last place off, and not every
 * engine alike; the C library under a node (glibc) is off in about one case of a thousand.
 */

const BITS = 192n;
const ONE = 1n << BITS;

/** Fixed point with `BITS` bits behind the point. */
const LN2 = naturalLogOfTwo();

/** The sum of 1 / (k 2^k). */
function naturalLogOfTwo(): bigint {
  let sum = 0n;
  for (let k = 1n; k <= BITS; k++) sum += (ONE >> k) / k;
  return sum;
}

/** An f64 whose lowest bit is not below 2^-192, in fixed point, exactly. */
function fixedPoint(value: number): bigint {
  const scaled = value * 2 ** 106;
  return BigInt(scaled) << (BITS - 106n);
}

/** The Taylor series, for |x| below 1. */
function taylor(x: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * x) >> BITS) / n;
    sum += term;
  }
  return sum;
}

/** Below this, 1 + x is as near as an f64 comes. */
const TINY = 2 ** -54;
/** Beyond these the result is infinite or zero. */
const LARGEST = 710;
const SMALLEST = -746;

/** e^x. Results that are not normal numbers (below 2^-1022) may be rounded twice. */
export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > LARGEST) return Number.POSITIVE_INFINITY;
  if (x < SMALLEST) return 0;
  if (Math.abs(x) < TINY) return 1 + x;
  const fixed = fixedPoint(x);
  const twos = fixed / LN2;
  const mantissa = Number(taylor(fixed - twos * LN2)) / Number(ONE);
  const half = Math.trunc(Number(twos) / 2);
  // In two steps, so that neither factor leaves the range of an f64.
  return mantissa * 2 ** half * 2 ** (Number(twos) - half);
}
