import { zstdDecompressSync } from 'node:zlib';
import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';

/** Account data never is longer. Source: solana-system-interface, `MAX_PERMITTED_DATA_LENGTH`. */
const DATA_MAX_BYTES = 10 * 1024 * 1024;

/** Two nodes may compress the same bytes differently. */
function unpacked(value: JsonValue[]): JsonValue[] {
  const [text, encoding] = value;
  if (value.length !== 2 || encoding !== 'base64+zstd' || typeof text !== 'string') return value;
  try {
    const bytes = zstdDecompressSync(Buffer.from(text, 'base64'), { maxOutputLength: DATA_MAX_BYTES });
    return [bytes.toString('base64'), 'base64'];
  } catch {
    return value;
  }
}

function sorted(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return unpacked(value).map(sorted);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] as JsonValue)]));
}

/** A text that is equal for accounts that are equal, whatever the order of their members. */
export const canonicalJson = (raw: Buffer): string => writeJson(sorted(parseJson(raw.toString('utf8'))));
