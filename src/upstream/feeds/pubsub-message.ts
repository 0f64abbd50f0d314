import { parseJson } from '../../base/json.ts';
import { MALFORMED, scanObject, skipSpace, skipString } from '../../base/json-scan.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { errorCodeOf } from '../response/parse-response.ts';

/** Results are not parsed but forwarded as received. Source: solana-json-rpc.md §3.1. */

/** A number, or the raw JSON text if it is not an integer of at most 15 digits. */
export type NodeSubscriptionId = number | string;

export type NodeMessage = Readonly<
  | { kind: 'notification'; id: NodeSubscriptionId; result: Buffer }
  /** `body` is the raw `result`, or the raw `error` if the code is not 0. */
  | { kind: 'response'; id: number; body: Buffer; errorCode: number }
>;

const DEPTH_MAX = 256;
const SAFE_DIGITS = 15;
const HEAD = Buffer.from('{"jsonrpc":"2.0","method":"');
const PARAMS = Buffer.from(',"params":');
const OBJECT_CLOSE = 0x7d;

/** Byte ranges of an object's members; -1 if absent. */
class Spans {
  readonly bytes: Buffer;
  readonly names: readonly Buffer[];
  readonly from: number[];
  readonly to: number[];

  constructor(bytes: Buffer, names: readonly Buffer[]) {
    this.bytes = bytes;
    this.names = names;
    this.from = names.map(() => -1);
    this.to = names.map(() => -1);
  }

  of(index: number): Buffer | null {
    const from = this.from[index] ?? -1;
    return from < 0 ? null : this.bytes.subarray(from, this.to[index]);
  }
}

const ENVELOPE = ['id', 'result', 'error', 'params'].map((name) => Buffer.from(name));
const PAYLOAD = ['result', 'subscription'].map((name) => Buffer.from(name));

function isAt(bytes: Buffer, at: number, end: number, text: Buffer): boolean {
  return end - at === text.length && bytes.compare(text, 0, text.length, at, end) === 0;
}

function note(spans: Spans, nameStart: number, nameEnd: number, from: number, to: number): void {
  for (let index = 0; index < spans.names.length; index++) {
    if (!isAt(spans.bytes, nameStart, nameEnd, spans.names[index]!)) continue;
    spans.from[index] = from;
    spans.to[index] = to;
  }
}

export function subscriptionId(raw: Buffer): NodeSubscriptionId {
  if (raw.length === 0 || raw.length > SAFE_DIGITS) return raw.toString('utf8');
  let value = 0;
  for (const byte of raw) {
    if (byte < 0x30 || byte > 0x39) return raw.toString('utf8');
    value = value * 10 + byte - 0x30;
  }
  return value;
}

function notificationOf(payload: Spans): NodeMessage | null {
  const result = payload.of(0);
  const id = payload.of(1);
  return result === null || id === null ? null : { kind: 'notification', id: subscriptionId(id), result };
}

/** Reads a notification in Agave's member order in a single pass. */
function readNotification(bytes: Buffer): NodeMessage | null {
  if (!isAt(bytes, 0, Math.min(HEAD.length, bytes.length), HEAD)) return null;
  const at = skipString(bytes, HEAD.length - 1);
  if (at === MALFORMED || !isAt(bytes, at, Math.min(at + PARAMS.length, bytes.length), PARAMS)) return null;
  const payload = new Spans(bytes, PAYLOAD);
  const end = scanObject(bytes, at + PARAMS.length, DEPTH_MAX, payload, note);
  if (end === MALFORMED || bytes[end] !== OBJECT_CLOSE) return null;
  return skipSpace(bytes, end + 1) === bytes.length ? notificationOf(payload) : null;
}

/** Reads a message in any member order and spacing in two passes. */
function readAny(bytes: Buffer): NodeMessage | null {
  const start = skipSpace(bytes, 0);
  const envelope = new Spans(bytes, ENVELOPE);
  const end = scanObject(bytes, start, DEPTH_MAX, envelope, note);
  if (end === MALFORMED || skipSpace(bytes, end) !== bytes.length) return null;
  const params = envelope.from[3] ?? -1;
  if (params < 0) {
    const id = subscriptionId(envelope.of(0) ?? Buffer.from('null'));
    if (typeof id !== 'number') return null;
    const error = envelope.of(2);
    if (error !== null && error.toString('latin1') !== 'null') {
      const errorCode = errorCodeOf(error);
      return errorCode === null ? null : { kind: 'response', id, body: error, errorCode };
    }
    const body = envelope.of(1);
    return body === null ? null : { kind: 'response', id, body, errorCode: 0 };
  }
  const payload = new Spans(bytes, PAYLOAD);
  return scanObject(bytes, params, DEPTH_MAX, payload, note) === MALFORMED ? null : notificationOf(payload);
}

/** Returned buffers are views of `bytes`. Null unless `bytes` is a notification or a response with a numeric id. */
export const readNodeMessage = (bytes: Buffer): NodeMessage | null =>
  readNotification(bytes) ?? readAny(bytes);

const DIGITS = /^\d{1,20}$/;

/** Null for anything but a rootNotification result. */
export function readRoot(result: Buffer): Slot | null {
  const text = result.toString('latin1');
  return DIGITS.test(text) ? slot(BigInt(text)) : null;
}

/** Source: Agave rpc-client-api `SlotInfo`. */
export type SlotInfo = Readonly<{ slot: Slot; parent: Slot; root: Slot }>;

const isSlot = (value: unknown): value is number | bigint =>
  (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) ||
  (typeof value === 'bigint' && value >= 0n);

/** Null for anything but a slotNotification result. */
export function readSlotInfo(result: Buffer): SlotInfo | null {
  const info = parseJson(result.toString('utf8'));
  if (info === null || typeof info !== 'object' || Array.isArray(info)) return null;
  const { parent, root } = info;
  if (!isSlot(info.slot) || !isSlot(parent) || !isSlot(root)) return null;
  return { slot: slot(info.slot), parent: slot(parent), root: slot(root) };
}

export const slotInfoJson = ({ slot, parent, root }: SlotInfo): Buffer =>
  Buffer.from(`{"slot":${slot},"parent":${parent},"root":${root}}`);
