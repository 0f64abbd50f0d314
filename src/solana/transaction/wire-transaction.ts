import { ADDRESS_BYTES, addressBytes } from '../address.ts';
import { BLOCKHASH_BYTES } from '../blockhash.ts';
import { VERSION_PREFIX } from '../message/message.ts';
import { programs } from '../programs.ts';
import { SIGNATURE_BYTES } from '../signature.ts';

/** Allocation-free field scanner. After a read past the end, `isBroken` is set and reads return 0. */
export class WireScanner {
  readonly bytes: Uint8Array;
  at: number;
  isBroken = false;

  constructor(bytes: Uint8Array, at: number = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get remaining(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): number {
    const start = this.at;
    if (length > this.bytes.length - start) this.isBroken = true;
    else this.at = start + length;
    return start;
  }

  u8(): number {
    const at = this.take(1);
    return this.isBroken ? 0 : (this.bytes[at] as number);
  }

  u16(): number {
    return this.u8() | (this.u8() << 8);
  }

  u32(): number {
    return (this.u16() | (this.u16() << 16)) >>> 0;
  }

  /** Reads a canonical compact-u16; sets `isBroken` for any other form. */
  compact(): number {
    let value = 0;
    for (let nth = 0; nth < 3; nth++) {
      const byte = this.u8();
      if (this.isBroken || (byte === 0 && nth > 0)) break;
      value |= (byte & 0x7f) << (nth * 7);
      if (byte < 0x80) {
        if (value > 0xffff) break;
        return value;
      }
    }
    this.isBroken = true;
    return 0;
  }
}

/** First byte of a version 1 transaction, which starts with its message. */
export const VERSION_1_PREFIX = 0x81;
/** Offset of the configuration mask in a version 1 transaction, after prefix and header. */
export const CONFIG_MASK_AT = 4;
const VOTE_SIGNATURES_MAX = 2;

const voteProgram = addressBytes(programs.vote);

/** Offsets are relative to the start of the scanned bytes. */
export const emptyShape = () => ({
  start: 0,
  end: 0,
  version: 'legacy' as 'legacy' | 0 | 1,
  signatureCount: 0,
  signaturesAt: 0,
  messageAt: 0,
  messageEnd: 0,
  /** Static keys, 32 bytes each. */
  keyCount: 0,
  keysAt: 0,
  isVote: false,
  tableLookupCount: 0,
  tableLookupsAt: 0,
});
export type TransactionShape = ReturnType<typeof emptyShape>;

/**
 * Checks counts only; `sanitizeTransaction` checks the rest.
 * @param shape - output; its content is unspecified if the scan fails and returns false.
 */
export function scanTransaction(scan: WireScanner, shape: TransactionShape): boolean {
  shape.start = scan.at;
  shape.tableLookupCount = 0;
  shape.isVote = false;
  const first = scan.bytes[scan.at] ?? 0;
  if (first === VERSION_1_PREFIX) scanVersion1(scan, shape);
  else scanLegacyOrV0(scan, shape);
  shape.end = scan.at;
  return !scan.isBroken;
}

function scanLegacyOrV0(scan: WireScanner, shape: TransactionShape): void {
  shape.signatureCount = scan.compact();
  shape.signaturesAt = scan.take(shape.signatureCount * SIGNATURE_BYTES);
  shape.messageAt = scan.at;
  const first = scan.bytes[scan.at] ?? 0;
  shape.version = first < VERSION_PREFIX ? 'legacy' : 0;
  // Only legacy and version 0 messages follow the signatures; at least one signature is required.
  if (first > VERSION_PREFIX || shape.signatureCount === 0) scan.isBroken = true;
  scan.take(shape.version === 'legacy' ? 3 : 4);
  shape.keyCount = scan.compact();
  shape.keysAt = scan.take(shape.keyCount * ADDRESS_BYTES);
  scan.take(BLOCKHASH_BYTES);
  const count = scan.compact();
  for (let i = 0; i < count && !scan.isBroken; i++) {
    const programIndex = scan.u8();
    scan.take(scan.compact());
    scan.take(scan.compact());
    if (i === 0 && count === 1) shape.isVote = isVote(scan, shape, programIndex);
  }
  if (shape.version === 0) {
    shape.tableLookupCount = scan.compact();
    shape.tableLookupsAt = scan.at;
    for (let i = 0; i < shape.tableLookupCount && !scan.isBroken; i++) {
      scan.take(ADDRESS_BYTES);
      scan.take(scan.compact());
      scan.take(scan.compact());
    }
  }
  shape.messageEnd = scan.at;
}

/** Same rule as `isSimpleVote` (simple-vote.ts), on wire bytes. */
function isVote({ bytes }: WireScanner, shape: TransactionShape, programIndex: number): boolean {
  if (shape.version !== 'legacy' || shape.signatureCount > VOTE_SIGNATURES_MAX) return false;
  if (programIndex >= shape.keyCount) return false;
  const at = shape.keysAt + programIndex * ADDRESS_BYTES;
  for (let i = 0; i < ADDRESS_BYTES; i++) if (bytes[at + i] !== voteProgram[i]) return false;
  return true;
}

/** Each set bit of a version 1 configuration mask adds four bytes of values; a u64 value sets two bits. */
const CONFIG_VALUE_BYTES = 4;

/** Layout: the message, then the required signatures. Source: SIMD-0385. */
function scanVersion1(scan: WireScanner, shape: TransactionShape): void {
  shape.version = 1;
  shape.messageAt = scan.at;
  scan.take(1);
  shape.signatureCount = scan.u8();
  scan.take(2);
  const config = scan.u32();
  scan.take(BLOCKHASH_BYTES);
  const instructions = scan.u8();
  shape.keyCount = scan.u8();
  shape.keysAt = scan.take(shape.keyCount * ADDRESS_BYTES);
  if (shape.signatureCount === 0) scan.isBroken = true;
  for (let bits = config; bits !== 0; bits &= bits - 1) scan.take(CONFIG_VALUE_BYTES);
  let payloadBytes = 0;
  for (let i = 0; i < instructions && !scan.isBroken; i++) {
    scan.take(1);
    payloadBytes += scan.u8();
    payloadBytes += scan.u16();
  }
  scan.take(payloadBytes);
  shape.messageEnd = scan.at;
  shape.signaturesAt = scan.take(shape.signatureCount * SIGNATURE_BYTES);
}

export type WireLookup = Readonly<{
  accountKey: Uint8Array;
  writableIndexes: Uint8Array;
  readonlyIndexes: Uint8Array;
}>;

/** Views of the parts that streams need. */
export type WireTransaction = Readonly<{
  bytes: Uint8Array;
  version: 'legacy' | 0 | 1;
  signature: Uint8Array;
  message: Uint8Array;
  /** Offset of each static key in `bytes`. */
  keyOffsets: readonly number[];
  lookups: readonly WireLookup[];
  isVote: boolean;
}>;

function readLookups(
  bytes: Uint8Array,
  { tableLookupCount, tableLookupsAt }: TransactionShape,
): WireLookup[] {
  const scan = new WireScanner(bytes, tableLookupsAt);
  const view = (length: number): Uint8Array => {
    const start = scan.take(length);
    return bytes.subarray(start, start + length);
  };
  return Array.from({ length: tableLookupCount }, () => ({
    accountKey: view(ADDRESS_BYTES),
    writableIndexes: view(scan.compact()),
    readonlyIndexes: view(scan.compact()),
  }));
}

export function viewTransaction(bytes: Uint8Array, shape: TransactionShape): WireTransaction {
  const keyOffsets: number[] = [];
  for (let i = 0; i < shape.keyCount; i++) keyOffsets.push(shape.keysAt - shape.start + i * ADDRESS_BYTES);
  return {
    bytes: bytes.subarray(shape.start, shape.end),
    version: shape.version,
    signature: bytes.subarray(shape.signaturesAt, shape.signaturesAt + SIGNATURE_BYTES),
    message: bytes.subarray(shape.messageAt, shape.messageEnd),
    keyOffsets,
    lookups: shape.tableLookupCount === 0 ? [] : readLookups(bytes, shape),
    isVote: shape.isVote,
  };
}

/** @returns null unless `bytes` contains exactly one transaction. */
export function readWireTransaction(bytes: Uint8Array): WireTransaction | null {
  const shape = emptyShape();
  if (!scanTransaction(new WireScanner(bytes), shape) || shape.end !== bytes.length) return null;
  return viewTransaction(bytes, shape);
}
