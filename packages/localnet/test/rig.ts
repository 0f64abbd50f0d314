import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../../src/base/json.ts';
import type { Commitment } from '../../../src/protocol/commitment.ts';
import { RpcError } from '../../../src/protocol/rpc-error.ts';
import { eventually } from '../../../test/service/eventually.ts';
import { type LocalNodeOptions, type OpenLocalNode, openLocalNode } from '../src/genesis/open.ts';
import type { LocalNode } from '../src/node.ts';
import type { RpcHandler } from '../src/rpc-handler.ts';
import { rpcHandlers } from '../src/rpc-handlers.ts';

type Method = keyof typeof rpcHandlers;

/** Embedded ledger with manual slots and its methods as a client sees them. */
export type Rig = Readonly<{
  node: OpenLocalNode;
  /** Result of a method, parsed by JSON.parse. Fails on an error. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into results of every shape
  result(method: Method, params: readonly unknown[]): Promise<any>;
  /** Error of a method. Fails on a result. */
  error(method: Method, params: readonly unknown[]): Promise<object>;
  /** Like `result` and `error`, for a ledger with some members replaced. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  resultWith(parts: object, method: Method, params: readonly unknown[]): Promise<any>;
  errorWith(parts: object, method: Method, params: readonly unknown[]): Promise<object>;
  /** Result or `{error}`; integers above 2^53 as bigint. */
  callRpc(method: Method, ...params: JsonValue[]): Promise<JsonValue>;
  /** Like `callRpc`, with raw `params` and the response as text. */
  callRpcRaw(method: Method, params: JsonValue | undefined): Promise<string>;
  slot(commitment: Commitment): number;
  freeze(slots?: number): void;
  /** Freezes slots (default 32) and waits until the slot 31 below the tip is finalized. */
  finalize(slots?: number): Promise<void>;
  close(): Promise<void>;
}>;

async function answer(from: LocalNode, method: Method, params: JsonValue | undefined): Promise<string> {
  const handler: RpcHandler = rpcHandlers[method];
  return writeJson(await handler(from, params));
}

async function errorOf(response: Promise<string>): Promise<string> {
  try {
    await response;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data } = error;
    return writeJson({ code, message, data });
  }
  throw new Error('the method did not fail');
}

const wire = (params: readonly unknown[]): JsonValue => parseJson(writeJson(params as WritableJson));

type RigCalls = Pick<Rig, 'result' | 'error' | 'resultWith' | 'errorWith' | 'callRpc' | 'callRpcRaw'>;

function callsOn(node: OpenLocalNode): RigCalls {
  const { genesis, history } = node;
  const nodeWith = (parts: object): LocalNode =>
    ({ genesis, history, bank: node.bank.bind(node), ...parts }) as LocalNode;
  const resultOf = async (from: LocalNode, method: Method, params: readonly unknown[]) =>
    JSON.parse(await answer(from, method, wire(params)));
  const failureOf = async (from: LocalNode, method: Method, params: readonly unknown[]) =>
    JSON.parse(await errorOf(answer(from, method, wire(params))));
  const callRpcRaw: Rig['callRpcRaw'] = async (method, params) => {
    const response = answer(node, method, params);
    return response.catch(async () => `{"error":${await errorOf(response)}}`);
  };
  return {
    result: (method, params) => resultOf(node, method, params),
    error: (method, params) => failureOf(node, method, params),
    resultWith: (parts, method, params) => resultOf(nodeWith(parts), method, params),
    errorWith: (parts, method, params) => failureOf(nodeWith(parts), method, params),
    callRpc: async (method, ...params) => parseJson(await callRpcRaw(method, params)),
    callRpcRaw,
  };
}

export async function openRig(options: Partial<LocalNodeOptions> = {}): Promise<Rig> {
  const ledgerDir = mkdtempSync(join(tmpdir(), 'solway-ledger-'));
  const node = await openLocalNode({ manual: true, ...options, ledgerDir });
  const slot = (commitment: Commitment): number => Number(node.bank(commitment).slot);
  const freeze = (slots = 1): void => {
    for (let i = 0; i < slots; i++) node.freeze();
  };
  return {
    node,
    ...callsOn(node),
    slot,
    freeze,
    finalize: async (slots = 32) => {
      freeze(slots);
      await eventually(async () => slot('finalized') === slot('processed') - 31, 'the tip is finalized');
    },
    close: async () => {
      await node.stop();
      rmSync(ledgerDir, { recursive: true, force: true });
    },
  };
}

export const rpcError = (code: number, message: string, data?: JsonValue): JsonValue => ({
  error: data === undefined ? { code, message } : { code, message, data },
});

/** -32602 with serde's text. */
export const serdeError = (text: string): JsonValue => rpcError(-32602, `Invalid params: ${text}.`);
