import { isUtf8 } from 'node:buffer';
import { type JsonValue, parseJson } from '../../base/json.ts';
import { isJson } from '../../base/json-scan.ts';
import type { OffChainLimits } from './limits.ts';

/** Depth and size of JSON that strangers wrote. */
export type DocumentLimits = Pick<OffChainLimits, 'documentMaxBytes' | 'depthMax' | 'valuesMax'>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const ARRAY_OPEN = 0x5b;
const OBJECT_OPEN = 0x7b;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** At least as many as there are values: all values but the first follow on a comma or an opening. */
function countValues(bytes: Uint8Array): number {
  let count = 1;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COMMA || byte === ARRAY_OPEN || byte === OBJECT_OPEN) count++;
  }
  return count;
}

/**
 * The JSON text in what a host sent, without a byte order mark.
 * @returns null when it is no JSON in UTF-8, or larger or deeper than is read. Costs no more than the bytes' length.
 */
export function documentIn(bytes: Buffer, limits: DocumentLimits): Buffer | null {
  const marked = bytes.length >= BOM.length && bytes.subarray(0, BOM.length).equals(BOM);
  const text = marked ? bytes.subarray(BOM.length) : bytes;
  if (text.length === 0 || text.length > limits.documentMaxBytes || !isUtf8(text)) return null;
  if (!isJson(text, limits.depthMax) || countValues(text) > limits.valuesMax) return null;
  return text;
}

/** The value of what `documentIn` gave. */
export const parseDocument = (document: Buffer): JsonValue => parseJson(document.toString('utf8'));
