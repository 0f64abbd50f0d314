import { parseJson } from '../../base/json.ts';
import { MALFORMED, MemberFinder, skipSpace, skipString } from '../../base/json-scan.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { errorCodeOf } from '../response/parse-response.ts';

/** Results are not parsed but forwarded as received. Source: solana-json-rpc.md §3.1. */

/** The subscriptions that PubSub serves. Other kinds are served from blocks. */
export type PubsubSubscription = Exclude<Subscription, { kind: 'block' | 'transaction' }>;

/** A number, or the raw JSON text if the id is not an integer of at most 15 digits. */
export type NodeSubscriptionId = number | string;

export type NodeMessage = Readonly<
  | { kind: 'notification'; id: NodeSubscriptionId; result: Buffer }
  /** `body` is the raw `result`, or the raw `error` if `errorCode` is not 0. */
  | { kind: 'response'; id: number; body: Buffer; errorCode: number }
>;

const DEPTH_MAX = 256;
const SAFE_DIGITS = 15;
const HEAD = Buffer.from('{"jsonrpc":"2.0","method":"');
const BEFORE_PARAMS = Buffer.from(',"params":');
const OBJECT_CLOSE = 0x7d;

/** Indexes of the member names in `envelope` and `payload`. */
const [ID, RESULT, ERROR, PARAMS] = [0, 1, 2, 3] as const;
const [PAYLOAD_RESULT, SUBSCRIPTION] = [0, 1] as const;
/** Shared by all messages: the result of a scan is used before the next scan. */
const envelope = new MemberFinder(['id', 'result', 'error', 'params']);
const payload = new MemberFinder(['result', 'subscription']);

function isAt(bytes: Buffer, at: number, text: Buffer): boolean {
  return bytes.compare(text, 0, text.length, at, Math.min(at + text.length, bytes.length)) === 0;
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

/** Returns the notification whose params `payload` scanned last. */
function notificationIn(bytes: Buffer): NodeMessage | null {
  const result = payload.valueIn(bytes, PAYLOAD_RESULT);
  const id = payload.valueIn(bytes, SUBSCRIPTION);
  return result === null || id === null ? null : { kind: 'notification', id: subscriptionId(id), result };
}

/** Reads a notification in Agave's member order in a single pass. */
function readNotification(bytes: Buffer): NodeMessage | null {
  if (!isAt(bytes, 0, HEAD)) return null;
  const at = skipString(bytes, HEAD.length - 1);
  if (at === MALFORMED) return null;
  if (!isAt(bytes, at, BEFORE_PARAMS)) return null;
  const end = payload.scan(bytes, at + BEFORE_PARAMS.length, DEPTH_MAX);
  if (end === MALFORMED || bytes[end] !== OBJECT_CLOSE) return null;
  return skipSpace(bytes, end + 1) === bytes.length ? notificationIn(bytes) : null;
}

/** Reads a message in any member order and spacing in two passes. */
function readAny(bytes: Buffer): NodeMessage | null {
  const end = envelope.scan(bytes, skipSpace(bytes, 0), DEPTH_MAX);
  if (end === MALFORMED || skipSpace(bytes, end) !== bytes.length) return null;
  const params = envelope.starts[PARAMS] as number;
  if (params >= 0) return payload.scan(bytes, params, DEPTH_MAX) === MALFORMED ? null : notificationIn(bytes);
  const id = subscriptionId(envelope.valueIn(bytes, ID) ?? Buffer.from('null'));
  if (typeof id !== 'number') return null;
  const error = envelope.valueIn(bytes, ERROR);
  if (error !== null && error.toString('latin1') !== 'null') {
    const errorCode = errorCodeOf(error);
    return errorCode === null ? null : { kind: 'response', id, body: error, errorCode };
  }
  const body = envelope.valueIn(bytes, RESULT);
  return body === null ? null : { kind: 'response', id, body, errorCode: 0 };
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
