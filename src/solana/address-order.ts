import type { Address } from './address.ts';

const LEADING_ZEROS = /^1+/;

/**
 * Order of addresses by their bytes, for `sort`. Base58 keeps the order of numbers of equal length, so the
 * texts need not be decoded: without its leading ones (zero bytes) the longer text is the larger number.
 */
export function compareAddresses(a: Address, b: Address): number {
  const left = a.replace(LEADING_ZEROS, '');
  const right = b.replace(LEADING_ZEROS, '');
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
