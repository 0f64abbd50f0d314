import { crc32 } from 'node:zlib';
import { usageStatuses } from '../../gateway/metering/usage-meter.ts';
import { products } from '../../protocol/product.ts';
import type { StoredUsage } from './usage-rows.ts';

/**
 * A line of the journal: CRC-32 of what follows as 8 hex digits, a space, a row as a JSON array, a line break.
 *
 *     1c291ca3 [29000000,"7hQ2mKpZ","rpc","getSlot","ok",3,210,96,3,0,"12:2,13:1"]
 */
export function journalLine(row: StoredUsage): string {
  const text = JSON.stringify([
    row.minute,
    row.keyId,
    row.product,
    row.method,
    row.status,
    row.requests,
    row.bytesIn,
    row.bytesOut,
    row.credits,
    row.messages,
    row.latency,
  ]);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

/** Reads a line without its break; null when it is not whole. */
export function readJournalLine(line: string): StoredUsage | null {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== crc32(text).toString(16).padStart(8, '0')) return null;
  try {
    return rowOf(JSON.parse(text));
  } catch {
    return null;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The checksum says that it was written so; this, that it was a program of this kind. */
function rowOf(fields: unknown): StoredUsage | null {
  if (!Array.isArray(fields) || fields.length !== 11) return null;
  const [minute, keyId, product, method, status, requests, bytesIn, bytesOut, credits, messages, latency] =
    fields;
  const counts = [minute, requests, bytesIn, bytesOut, credits, messages];
  const isWhole =
    counts.every(isCount) &&
    (keyId === null || typeof keyId === 'string') &&
    Object.hasOwn(products, product) &&
    typeof method === 'string' &&
    usageStatuses.includes(status) &&
    typeof latency === 'string';
  if (!isWhole) return null;
  return { minute, keyId, product, method, status, requests, bytesIn, bytesOut, credits, messages, latency };
}
