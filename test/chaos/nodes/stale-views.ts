import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import { type MethodRow, methods } from '../../../src/protocol/methods.ts';
import type { Direct } from './direct.ts';

type NodeCall = Readonly<{
  id: JsonValue;
  method: string;
  params: JsonValue[];
  config: Readonly<Record<string, JsonValue>>;
}>;

/** Responds to a call from a stale view of the chain. */
export type StaleView = (call: NodeCall) => Promise<string>;

const SEND = 'sendTransaction';

const rowOf = (method: string): MethodRow | null =>
  Object.hasOwn(methods, method) ? methods[method as keyof typeof methods] : null;

/** Null for a batch. */
export function readCall(body: string): NodeCall | null {
  const call = parseJson(body);
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return null;
  const { id = null, params } = call;
  const method = String(call.method);
  const given = Array.isArray(params) ? params : [];
  const at = rowOf(method)?.configIndex ?? null;
  const config = at === null ? null : given[at];
  const isObject = typeof config === 'object' && config !== null && !Array.isArray(config);
  return { id, method, params: given, config: isObject ? config : {} };
}

const bodyOf = ({ id, method }: NodeCall, params: readonly JsonValue[]): string =>
  writeJson({ jsonrpc: '2.0', id, method, params });

/** A node that returns finalized state at every commitment: about 31 slots behind the others, and moving. */
export const behindView =
  (ledger: Direct): StaleView =>
  async (call) => {
    const { method, params, config } = call;
    const row = rowOf(method);
    const changed = [...params];
    if (row !== null && row.configIndex !== null && row.commitment !== null) {
      while (changed.length <= row.configIndex) changed.push(null);
      const name = method === SEND ? 'preflightCommitment' : 'commitment';
      changed[row.configIndex] = { ...config, [name]: 'finalized' };
    }
    return (await ledger.post(bodyOf(call, changed))).text;
  };

/** Methods that a stuck node answers from its state at each commitment. */
const ofCommitment = [
  ...['getSlot', 'getBlockHeight', 'getEpochInfo', 'getLatestBlockhash', 'getTransactionCount'],
];
const NOT_REACHED = -32016;
const NO_BLOCK = -32004;
const PREFLIGHT_FAILED = -32002;
const CONTEXT = /^(\{"jsonrpc":"2\.0","result":\{"context":\{"apiVersion":"[^"]*","slot":)(\d+)/;
const unknownBlockhash = { accounts: null, err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 };

const errorText = (id: JsonValue, code: number, message: string, data?: object): string =>
  writeJson({ jsonrpc: '2.0', error: { code, message, data: data as Record<string, JsonValue> }, id });

/**
 * A node that stopped replaying at a slot, but receives shreds and reports itself healthy. Changing results are those
 * of that slot; constant results are read from the ledger, with that slot as context.
 * @param moving - accounts with changing balances.
 */
export async function stuckView(ledger: Direct, moving: readonly string[]): Promise<StaleView> {
  const known = new Map<string, string>();
  const nameOf = (method: string, address: string, commitment: string) =>
    `${method} ${address} ${commitment}`;
  const read = async (method: string, address: string, commitment: Commitment): Promise<void> => {
    const params = address === '' ? [{ commitment }] : [address, { commitment }];
    const { text } = await ledger.post(writeJson({ jsonrpc: '2.0', id: 0, method, params }));
    const result = text.slice('{"jsonrpc":"2.0","result":'.length, -',"id":0}\n'.length);
    known.set(nameOf(method, address, commitment), result);
  };
  await Promise.all(
    commitments.flatMap((commitment) => [
      ...ofCommitment.map((method) => read(method, '', commitment)),
      ...moving.map((address) => read('getBalance', address, commitment)),
    ]),
  );
  const slotAt = (commitment: string): bigint => BigInt(known.get(nameOf('getSlot', '', commitment)) ?? 0);

  /** Removes transactions that landed after that slot. */
  const withoutNewer = (id: JsonValue, text: string): string => {
    const answer = parseJson(text) as { result?: { context: JsonValue; value: ({ slot: number } | null)[] } };
    if (answer.result === undefined) return text;
    const slot = slotAt('processed');
    const value = answer.result.value.map((status) =>
      status === null || BigInt(status.slot) > slot ? null : status,
    );
    const context = { ...(answer.result.context as object), slot };
    return writeJson({ jsonrpc: '2.0', result: { context, value }, id });
  };
  return async (call) => {
    const { id, method, params, config } = call;
    const commitment = String(config.commitment ?? 'finalized');
    const reached = slotAt(commitment);
    const at = BigInt((config.minContextSlot as number | undefined) ?? 0);
    if (at > reached)
      return errorText(id, NOT_REACHED, 'Minimum context slot has not been reached', {
        contextSlot: reached,
      });
    const address = typeof params[0] === 'string' ? params[0] : '';
    const cached = known.get(nameOf(method, address, commitment));
    if (cached !== undefined) return `{"jsonrpc":"2.0","result":${cached},"id":${writeJson(id)}}`;
    if (method === 'getBlock' && BigInt(params[0] as number) > slotAt('confirmed'))
      return errorText(id, NO_BLOCK, `Block not available for slot ${params[0]}`);
    // The node does not know new blockhashes.
    if (method === SEND && config.skipPreflight !== true) {
      const message = 'Transaction simulation failed: Blockhash not found';
      return errorText(id, PREFLIGHT_FAILED, message, unknownBlockhash);
    }
    const { text } = await ledger.post(bodyOf(call, params));
    if (method === 'getSignatureStatuses') return withoutNewer(id, text);
    return text.replace(CONTEXT, (_, head: string) => `${head}${reached}`);
  };
}
