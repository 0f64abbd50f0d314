/**
 * e^x, rounded to the nearest f64. The result of `Math.exp` depends on the engine; glibc's `exp`, which nodes use, is
 * off by one unit in the last place in about one case in a thousand.
 */

const BITS = 192n;
const ONE = 1n << BITS;

/** ln 2 in fixed point, with `BITS` fractional bits. */
const LN2 = naturalLogOfTwo();

/** ln 2 as the sum of 1 / (k 2^k). */
function naturalLogOfTwo(): bigint {
  let sum = 0n;
  for (let k = 1n; k <= BITS; k++) sum += (ONE >> k) / k;
  return sum;
}

/** Converts an f64 to fixed point, exactly. Requires |value| >= TINY, so that its lowest bit is at least 2^-106. */
function fixedPoint(value: number): bigint {
  const scaled = value * 2 ** 106;
  return BigInt(scaled) << (BITS - 106n);
}

/** Taylor series of e^x, for |x| below 1. */
function taylor(x: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * x) >> BITS) / n;
    sum += term;
  }
  return sum;
}

/** For |x| below this, 1 + x is the f64 nearest to e^x. */
const TINY = 2 ** -54;
const LARGEST = 710;
const SMALLEST = -746;

/** e^x. Subnormal results (below 2^-1022) may be rounded twice. */
export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > LARGEST) return Number.POSITIVE_INFINITY;
  if (x < SMALLEST) return 0;
  if (Math.abs(x) < TINY) return 1 + x;
  const fixed = fixedPoint(x);
  const twos = fixed / LN2;
  const mantissa = Number(taylor(fixed - twos * LN2)) / Number(ONE);
  const half = Math.trunc(Number(twos) / 2);
  // Scales in two steps, so that no factor exceeds the range of an f64.
  return mantissa * 2 ** half * 2 ** (Number(twos) - half);
}
