import type { RpcResponse } from '../../protocol/call.ts';
import type { Slot } from '../../solana/units.ts';
import { newestSlotOf, slotOfResult } from '../slots/observed-slot.ts';
import type { CallKey } from './call-key.ts';

/** How long answers are kept, by the kind of what they say. Milliseconds. */
export type CacheTtls = Readonly<{
  /** The moving state: no longer than a slot takes. 0 keeps none of it. */
  slotMs: number;
  /** Facts of an epoch, and of a node. */
  shortMs: number;
  /** Facts of the chain, and blocks and transactions below the finalized root. */
  finalMs: number;
}>;

export const defaultCacheTtls: CacheTtls = { slotMs: 400, shortMs: 10_000, finalMs: 3_600_000 };

const NULL = Buffer.from('null');
const VALUE_LAST = Buffer.from('"value":null}');
const VALUE_FIRST = Buffer.from('{"value":null');
const FIRST_PARAM = /^\[(\d{1,20})[,\]]/;

/** Whether the result says that something is not there: by the next moment it may be. */
export function isNegative(result: Buffer, mayContainNulls: boolean): boolean {
  if (result.length <= NULL.length) return result.equals(NULL);
  const { length } = result;
  if (result.compare(VALUE_LAST, 0, VALUE_LAST.length, Math.max(0, length - VALUE_LAST.length)) === 0) {
    return true;
  }
  if (result.subarray(0, VALUE_FIRST.length).equals(VALUE_FIRST)) return true;
  return mayContainNulls && (result.includes(',null') || result.includes('[null'));
}

/** The newest slot that a final answer rests on; null when it cannot be told. */
export function pinnedSlot({ policy, params }: CallKey, result: Buffer): Slot | null {
  switch (policy.pin) {
    case null:
      return null;
    case 'first-param': {
      const digits = FIRST_PARAM.exec(params)?.[1];
      return digits === undefined ? null : (BigInt(digits) as Slot);
    }
    case 'effectiveSlot':
      return newestSlotOf(result, policy.pin);
    default:
      return slotOfResult(result, policy.pin);
  }
}

/** Whether params name it: what is null is left to the node, and changes. */
const hasOption = (params: string, name: string): boolean =>
  params.includes(`"${name}":`) && !params.includes(`"${name}":null`);

function isFinal(key: CallKey, result: Buffer, root: Slot | null): boolean {
  const { requiredOption } = key.policy;
  if (root === null || key.commitment !== 'finalized') return false;
  if (requiredOption !== null && !hasOption(key.params, requiredOption)) return false;
  const pinned = pinnedSlot(key, result);
  return pinned !== null && pinned <= root;
}

/**
 * How long an answer may be kept, in milliseconds; 0 for not at all. Errors never are, and neither is what says that
 * something is not there.
 * @param root - the finalized root, as far as it is known.
 */
export function ttlFor(key: CallKey, response: RpcResponse, root: Slot | null, ttls: CacheTtls): number {
  const { ttl, mayContainNulls } = key.policy;
  if (ttl === 'never' || key.commitment === null) return 0;
  if (response.errorCode !== 0 || isNegative(response.body, mayContainNulls)) return 0;
  if (ttl === 'slot') return ttls.slotMs;
  if (ttl === 'shortly') return ttls.shortMs;
  return ttl === 'always' || isFinal(key, response.body, root) ? ttls.finalMs : 0;
}
