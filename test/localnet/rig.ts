import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson, type WritableJson, writeJson } from '../../src/base/json.ts';
import type { LocalNode } from '../../src/localnet/node.ts';
import { type OpenLocalNode, openLocalNode } from '../../src/localnet/open.ts';
import type { RpcHandler } from '../../src/localnet/rpc-handler.ts';
import { rpcHandlers } from '../../src/localnet/rpc-handlers.ts';
import type { Commitment } from '../../src/protocol/commitment.ts';
import { RpcError } from '../../src/protocol/rpc-error.ts';
import { eventually } from '../service/eventually.ts';

/** A real embedded ledger whose slots freeze by hand, and its methods as a client sees them. */
export type Rig = Readonly<{
  node: OpenLocalNode;
  /** What a method answers, as JSON.parse reads it. Fails when it is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into results of every shape
  result(method: keyof typeof rpcHandlers, params: readonly unknown[]): Promise<any>;
  /** The error a method answers with. Fails when it is a result. */
  error(method: keyof typeof rpcHandlers, params: readonly unknown[]): Promise<object>;
  /** The two for a ledger some of whose parts answer differently. */
  resultWith(
    parts: object,
    method: keyof typeof rpcHandlers,
    params: readonly unknown[],
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ): Promise<any>;
  errorWith(parts: object, method: keyof typeof rpcHandlers, params: readonly unknown[]): Promise<object>;
  slot(commitment: Commitment): number;
  freeze(slots?: number): Promise<void>;
  /** Freezes slots (32 unless told) and waits until the slot 31 below the tip is finalized. */
  finalize(slots?: number): Promise<void>;
  close(): Promise<void>;
}>;

const throughJson = (value: WritableJson): unknown => JSON.parse(writeJson(value));

/** Opens a fresh ledger in a directory of its own. */
export async function openRig(): Promise<Rig> {
  const ledgerDir = mkdtempSync(join(tmpdir(), 'solway-ledger-'));
  const node = await openLocalNode({ ledgerDir, manual: true });
  const call = async (
    from: LocalNode,
    method: keyof typeof rpcHandlers,
    params: readonly unknown[],
  ): Promise<WritableJson> => {
    const handler: RpcHandler = rpcHandlers[method];
    return handler(from, parseJson(writeJson(params as WritableJson)));
  };
  const errorOf = async (answer: Promise<WritableJson>): Promise<object> => {
    try {
      await answer;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error;
      return throughJson({ code, message, data }) as object;
    }
    throw new Error('the method did not fail');
  };
  const nodeWith = (parts: object): LocalNode =>
    ({ genesis: node.genesis, history: node.history, bank: node.bank.bind(node), ...parts }) as LocalNode;
  const slot = (commitment: Commitment): number => Number(node.bank(commitment).slot);
  const freeze = async (slots = 1): Promise<void> => {
    for (let i = 0; i < slots; i++) node.freeze();
  };
  return {
    node,
    slot,
    freeze,
    result: async (method, params) => throughJson(await call(node, method, params)),
    error: (method, params) => errorOf(call(node, method, params)),
    resultWith: async (parts, method, params) => throughJson(await call(nodeWith(parts), method, params)),
    errorWith: (parts, method, params) => errorOf(call(nodeWith(parts), method, params)),
    finalize: async (slots = 32) => {
      await freeze(slots);
      await eventually(async () => slot('finalized') === slot('processed') - 31, 'the tip is finalized');
    },
    close: async () => {
      await node.stop();
      rmSync(ledgerDir, { recursive: true, force: true });
    },
  };
}
