import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import { type MethodRow, methods } from '../../../src/protocol/methods.ts';
import type { Direct } from './direct.ts';

/** A call as received by a node. */
export type NodeCall = Readonly<{
  id: JsonValue;
  method: string;
  params: JsonValue[];
  config: Readonly<Record<string, JsonValue>>;
}>;

/** Responses of a node with a stale view of the chain. */
export interface StaleView {
  answer(call: NodeCall): Promise<string>;
}

const SEND = 'sendTransaction';

const rowOf = (method: string): MethodRow | null =>
  Object.hasOwn(methods, method) ? methods[method as keyof typeof methods] : null;

/** Configuration object of a call, or an empty one. */
function configOf(method: string, params: readonly JsonValue[]): NodeCall['config'] {
  const at = rowOf(method)?.config ?? null;
  const config = at === null ? null : params[at];
  return typeof config === 'object' && config !== null && !Array.isArray(config) ? config : {};
}

/** Null for a batch. */
export function readCall(body: string): NodeCall | null {
  const call = parseJson(body);
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return null;
  const { id = null, method, params } = call;
  const given = Array.isArray(params) ? params : [];
  return { id, method: String(method), params: given, config: configOf(String(method), given) };
}

const bodyOf = ({ id, method }: NodeCall, params: readonly JsonValue[]): string =>
  writeJson({ jsonrpc: '2.0', id, method, params });

/** Has finalized state only, at every commitment: about 31 slots behind all others, and moving. */
export class BehindView implements StaleView {
  readonly #ledger: Direct;

  constructor(ledger: Direct) {
    this.#ledger = ledger;
  }

  async answer(call: NodeCall): Promise<string> {
    return (await this.#ledger.post(bodyOf(call, finalizedOnly(call)))).text;
  }
}

function finalizedOnly({ method, params, config }: NodeCall): readonly JsonValue[] {
  const row = rowOf(method);
  if (row === null || row.config === null || row.commitment === null) return params;
  const name = method === SEND ? 'preflightCommitment' : 'commitment';
  const changed = Array.from(
    { length: Math.max(params.length, row.config + 1) },
    (_, at) => params[at] ?? null,
  );
  changed[row.config] = { ...config, [name]: 'finalized' };
  return changed;
}

/** Methods that a stuck node answers from its state at each commitment. */
const ofCommitment = [
  'getSlot',
  'getBlockHeight',
  'getEpochInfo',
  'getLatestBlockhash',
  'getTransactionCount',
] as const;

const NOT_REACHED = -32016;
const NO_BLOCK = -32004;
const PREFLIGHT_FAILED = -32002;

const CONTEXT = /^(\{"jsonrpc":"2\.0","result":\{"context":\{"apiVersion":"[^"]*","slot":)(\d+)/;

/**
 * Stopped replaying at a slot but receives shreds and reports itself healthy: its changing results are those of that
 * slot. Constant results are read from the ledger, with that slot as context.
 */
export class StuckView implements StaleView {
  readonly #ledger: Direct;
  readonly #cached: ReadonlyMap<string, string>;
  readonly #slots: Readonly<Record<Commitment, bigint>>;

  private constructor(ledger: Direct, known: ReadonlyMap<string, string>) {
    this.#ledger = ledger;
    this.#cached = known;
    const slotAt = (commitment: Commitment): bigint =>
      BigInt(known.get(nameOf('getSlot', '', commitment)) ?? 0);
    this.#slots = {
      processed: slotAt('processed'),
      confirmed: slotAt('confirmed'),
      finalized: slotAt('finalized'),
    };
  }

  /** @param moving - accounts with changing balances. */
  static async at(ledger: Direct, moving: readonly string[]): Promise<StuckView> {
    const known = new Map<string, string>();
    const read = async (method: string, address: string, commitment: Commitment): Promise<void> => {
      const params = address === '' ? [{ commitment }] : [address, { commitment }];
      const { text } = await ledger.post(writeJson({ jsonrpc: '2.0', id: 0, method, params }));
      known.set(
        nameOf(method, address, commitment),
        text.slice('{"jsonrpc":"2.0","result":'.length, -',"id":0}\n'.length),
      );
    };
    await Promise.all(
      commitments.flatMap((commitment) => [
        ...ofCommitment.map((method) => read(method, '', commitment)),
        ...moving.map((address) => read('getBalance', address, commitment)),
      ]),
    );
    return new StuckView(ledger, known);
  }

  async answer(call: NodeCall): Promise<string> {
    const { id, method, params, config } = call;
    const commitment = (config.commitment ?? 'finalized') as Commitment;
    const reached = this.#slots[commitment];
    if (BigInt((config.minContextSlot as number | undefined) ?? 0) > reached) {
      return errorText(id, NOT_REACHED, 'Minimum context slot has not been reached', {
        contextSlot: reached,
      });
    }
    const address = typeof params[0] === 'string' ? params[0] : '';
    const known = this.#cached.get(nameOf(method, address, commitment));
    if (known !== undefined) return `{"jsonrpc":"2.0","result":${known},"id":${writeJson(id)}}`;
    if (method === 'getBlock' && BigInt(params[0] as number) > this.#slots.confirmed) {
      return errorText(id, NO_BLOCK, `Block not available for slot ${params[0]}`);
    }
    if (method === SEND && config.skipPreflight !== true) return blockhashNotFound(id);
    const { text } = await this.#ledger.post(bodyOf(call, params));
    if (method === 'getSignatureStatuses') return this.#withoutNewer(id, text);
    return text.replace(CONTEXT, (_, head: string) => `${head}${reached}`);
  }

  /** Without transactions that landed since. */
  #withoutNewer(id: JsonValue, text: string): string {
    const { processed } = this.#slots;
    const answer = parseJson(text) as { result?: { context: JsonValue; value: ({ slot: number } | null)[] } };
    if (answer.result === undefined) return text;
    const value = answer.result.value.map((status) =>
      status === null || BigInt(status.slot) > processed ? null : status,
    );
    const context = { ...(answer.result.context as object), slot: processed };
    return writeJson({ jsonrpc: '2.0', result: { context, value }, id });
  }
}

const nameOf = (method: string, address: string, commitment: Commitment): string =>
  `${method} ${address} ${commitment}`;

const errorText = (id: JsonValue, code: number, message: string, data?: Record<string, bigint>): string =>
  writeJson({ jsonrpc: '2.0', error: { code, message, data }, id });

/** New blockhashes are unknown to it. */
const blockhashNotFound = (id: JsonValue): string =>
  writeJson({
    jsonrpc: '2.0',
    error: {
      code: PREFLIGHT_FAILED,
      message: 'Transaction simulation failed: Blockhash not found',
      data: { accounts: null, err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 },
    },
    id,
  });
