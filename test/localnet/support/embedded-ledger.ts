import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { type LocalNodeOptions, type OpenLocalNode, openLocalNode } from '../../../src/localnet/open.ts';
import { rpcHandlers } from '../../../src/localnet/rpc-handlers.ts';
import { RpcError } from '../../../src/protocol/rpc-error.ts';

/** A ledger whose slots freeze by hand, asked as over the wire. */
export type TestLedger = Readonly<{
  node: OpenLocalNode;
  /** Freezes so many slots. */
  advance: (slots: number) => void;
  /** The result as a client parses it, integers above 2^53 as bigint; or what it reads of the error. */
  ask: (method: keyof typeof rpcHandlers, ...params: JsonValue[]) => Promise<JsonValue>;
  /** The same with `params` as they stand, and as text. */
  askRaw: (method: keyof typeof rpcHandlers, params: JsonValue | undefined) => Promise<string>;
  close: () => Promise<void>;
}>;

const errorText = ({ code, message, data }: RpcError): string =>
  writeJson({ error: { code, message, data } });

/** Opens a ledger in a directory of its own. */
export async function openTestLedger(options: Partial<LocalNodeOptions> = {}): Promise<TestLedger> {
  const ledgerDir = await mkdtemp(join(tmpdir(), 'solway-ledger-'));
  const node = await openLocalNode({ manual: true, ...options, ledgerDir });
  const askRaw: TestLedger['askRaw'] = async (method, params) => {
    try {
      return writeJson(await rpcHandlers[method](node, params));
    } catch (error) {
      if (error instanceof RpcError) return errorText(error);
      throw error;
    }
  };
  return {
    node,
    advance: (slots) => {
      for (let i = 0; i < slots; i++) node.freeze();
    },
    ask: async (method, ...params) => parseJson(await askRaw(method, params)),
    askRaw,
    close: async () => {
      await node.stop();
      await rm(ledgerDir, { recursive: true, force: true });
    },
  };
}

/** What `ask` gives for -32602 and the like. */
export const rpcError = (code: number, message: string, data?: JsonValue): JsonValue => ({
  error: data === undefined ? { code, message } : { code, message, data },
});

/** -32602 in the words of serde. */
export const serdeError = (text: string): JsonValue => rpcError(-32602, `Invalid params: ${text}.`);
