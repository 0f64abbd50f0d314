import { exp } from '../../base/exp.ts';
import { fixedText } from '../../base/text/float-decimal.ts';
import type { InterestBearingConfig, ScaledUiAmountConfig } from './mint-scale.ts';

/**
 * Amounts of base units as the text a wallet shows, for mints whose amounts are more than their decimals say. All
 * arithmetic is that of an f64, in the order of the token program's own library, so the last digits agree.
 */

const SECONDS_PER_YEAR = 60 * 60 * 24 * 365.24;
const ONE_IN_BASIS_POINTS = 10_000;

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

/** 10^n by squaring, as num_traits multiplies it; from 10^23 on the rounding depends on the order. */
function powerOfTen(n: number): number {
  if (n === 0) return 1;
  let base = 10;
  let left = n;
  for (; left % 2 === 0; left /= 2) base *= base;
  let product = base;
  for (left = (left - 1) / 2; left > 0; left = Math.floor(left / 2)) {
    base *= base;
    if (left % 2 === 1) product *= base;
  }
  return product;
}

/** A text without the zeros at its end, and without a point that then has nothing behind it. */
function trimmed(text: string, decimals: number): string {
  return decimals === 0 ? text : text.replace(/0+$/, '').replace(/\.+$/, '');
}

/** What continuous interest makes of 1 in a span of time; null when the span does not fit an i64. */
function growth(rate: number, from: bigint, to: bigint): number | null {
  const seconds = to - from;
  if (seconds < I64_MIN || seconds > I64_MAX) return null;
  return exp(Number(BigInt(rate) * seconds) / SECONDS_PER_YEAR / ONE_IN_BASIS_POINTS);
}

/**
 * An amount with the interest it bore until now.
 *
 * @param amount base units, u64
 * @param decimals of the mint, u8
 * @param unixTimestamp now, i64 seconds, from the clock sysvar
 * @returns null when a time span does not fit an i64; `inf` when the amount does not fit an f64
 * @see spl-token-2022-interface, `InterestBearingConfig::amount_to_ui_amount`
 */
export function interestBearingAmount(
  config: InterestBearingConfig,
  amount: bigint,
  decimals: number,
  unixTimestamp: bigint,
): string | null {
  const { initializationTimestamp, lastUpdateTimestamp } = config;
  const before = growth(config.preUpdateAverageRate, initializationTimestamp, lastUpdateTimestamp);
  const since = growth(config.currentRate, lastUpdateTimestamp, unixTimestamp);
  if (before === null || since === null) return null;
  const scale = (before * since) / powerOfTen(decimals);
  return trimmed(fixedText(Number(amount) * scale, decimals), decimals);
}

/**
 * An amount times the multiplier that is in effect, cut to whole base units.
 *
 * @param amount base units, u64
 * @param decimals of the mint, u8
 * @param unixTimestamp now, i64 seconds, from the clock sysvar
 * @see spl-token-2022-interface 3.1.1, `ScaledUiAmountConfig::amount_to_ui_amount`
 */
export function scaledUiAmount(
  config: ScaledUiAmountConfig,
  amount: bigint,
  decimals: number,
  unixTimestamp: bigint,
): string {
  const isNew = unixTimestamp >= config.newMultiplierEffectiveTimestamp;
  const scaled = Number(amount) * (isNew ? config.newMultiplier : config.multiplier);
  return trimmed(fixedText(Math.trunc(scaled) / powerOfTen(decimals), decimals), decimals);
}
