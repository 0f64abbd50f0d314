import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../service/start-service.ts';

/**
 * Documented Agave errors (reference solana-json-rpc.md §2.2), including those that the embedded ledger cannot
 * cause: the response of the only node is returned unchanged.
 */
const N = 18446744073709551615n;
const documented: readonly (readonly [code: number, message: string, data?: string])[] = [
  [-32001, `Block ${N} cleaned up, does not exist on node. First available block: 5`],
  [
    -32002,
    'Transaction simulation failed: Blockhash not found',
    `{"err":"BlockhashNotFound","unitsConsumed":${N}}`,
  ],
  [-32003, 'Transaction signature verification failure'],
  [-32004, `Block not available for slot ${N}`],
  [-32005, 'Node is behind by 150 slots', '{"numSlotsBehind":150}'],
  [-32005, 'Node is unhealthy', '{"numSlotsBehind":null}'],
  [-32006, 'Transaction precompile verification failure InvalidAccountIndex'],
  [-32007, `Slot ${N} was skipped, or missing due to ledger jump to recent snapshot`],
  [-32008, 'No snapshot'],
  [-32009, `Slot ${N} was skipped, or missing in long-term storage`],
  [-32010, 'K excluded from account secondary indexes; this RPC method unavailable for key'],
  [-32011, 'Transaction history is not available from this node'],
  [-32012, 'scan aborted: The accounts scan stopped'],
  [-32013, 'Transaction signature length mismatch'],
  [-32014, `Block status not yet available for slot ${N}`],
  [-32015, 'Transaction version (0) is not supported by the requesting client.'],
  [-32016, 'Minimum context slot has not been reached', `{"contextSlot":${N}}`],
  [
    -32017,
    'Epoch rewards period still active at slot 5',
    `{"currentBlockHeight":1,"rewardsCompleteBlockHeight":${N},"slot":5}`,
  ],
  [-32018, 'Rewards cannot be found because slot 5 is not the epoch boundary.', '{"slot":5}'],
  [-32019, 'Failed to query long-term storage; please try again'],
  [-32020, 'Transaction 1111 not found'],
  [-32021, 'No slot history'],
  [-32600, 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.'],
  [-32601, 'Method not found'],
  [-32602, 'Invalid params: invalid type: integer `5`, expected a string.'],
  [-32603, 'Internal error'],
];

const errorText = ([code, message, data]: (typeof documented)[number]): string =>
  `{"code":${code},"message":${JSON.stringify(message)}${data === undefined ? '' : `,"data":${data}`}}`;

let node: Server;
let service: RunningService;

/** Answers health checks, and every other call with the error of the given code. */
function reply(body: string): string {
  const { id, method, params } = JSON.parse(body) as { id: number; method: string; params?: [number] };
  const end = `,"id":${id}}\n`;
  if (method === 'getSlot') return `{"jsonrpc":"2.0","result":100${end}`;
  if (method === 'getGenesisHash') {
    return `{"jsonrpc":"2.0","result":"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"${end}`;
  }
  return `{"jsonrpc":"2.0","error":${errorText(documented[params?.[0] ?? 0] as (typeof documented)[number])}${end}`;
}

beforeAll(async () => {
  node = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.end(reply(Buffer.concat(pieces).toString()));
  });
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  service = await startService({ configuration: '', arguments: ['--upstream', url] });
});
afterAll(async () => {
  await service?.stop();
  node?.close();
  node?.closeAllConnections();
});

describe('an error of the only node', () => {
  it.each(documented.map((row, index) => [row[0], row[1], index] as const))(
    '%i "%s" reaches the client unchanged',
    async (_code, _message, index) => {
      const response = await fetch(service.ready.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${service.key}` },
        body: `{"jsonrpc":"2.0","id":"x","method":"getBalance","params":[${index}]}`,
      });
      const error = errorText(documented[index] as (typeof documented)[number]);
      expect(await response.text()).toBe(`{"jsonrpc":"2.0","error":${error},"id":"x"}\n`);
      expect(response.status).toBe(200);
    },
  );
});
