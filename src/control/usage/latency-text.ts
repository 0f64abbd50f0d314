import { BUCKET_COUNT } from '../../base/histogram.ts';

/** Counts in the buckets of base/histogram.ts as the store has them: `bucket:count` pairs, ascending, joined by commas. */
export function latencyText(counts: ArrayLike<number>): string {
  let text = '';
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    const count = counts[bucket] ?? 0;
    if (count > 0) text += `${text === '' ? '' : ','}${bucket}:${count}`;
  }
  return text;
}

/** Counts that many histograms are added up in; beyond those of one minute, so not of 32 bits. */
export const latencySum = (): Float64Array => new Float64Array(BUCKET_COUNT);

/** Adds what `latencyText` wrote. Reads digit by digit, because it is done for every row of every chart. */
export function addLatency(into: Float64Array, text: string): void {
  let number = 0;
  let bucket = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) {
      bucket = number;
      number = 0;
    } else if (code === COMMA) {
      into[bucket] = (into[bucket] ?? 0) + number;
      number = 0;
    } else {
      number = number * 10 + code - ZERO;
    }
  }
  if (text !== '') into[bucket] = (into[bucket] ?? 0) + number;
}

const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;
