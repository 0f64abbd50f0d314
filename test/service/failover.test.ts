import { Keypair, LAMPORTS_PER_SOL, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { behind, dyingAfterRequest, dyingMidBody, failing } from '../upstream/mock/behaviors.ts';
import { type Behaviour, type MockNode, send, startMock } from '../upstream/mock/server.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** The service in front of two misbehaving scripted nodes. */
const payer = Keypair.generate();
const account = payer.publicKey.toBase58();
const BLOCKHASH = encodeBase58(Buffer.alloc(32, 9));
const VALUE = 18_446_744_073_709_551_615n;

const context = (value: string): string => `{"context":{"apiVersion":"3.1.8","slot":1000},"value":${value}}`;

const results: Readonly<Record<string, (raw: string) => string>> = {
  getSlot: () => '1000',
  getHealth: () => '"ok"',
  getGenesisHash: () => `"${encodeBase58(Buffer.alloc(32, 3))}"`,
  getBalance: () => context(String(VALUE)),
  getAccountInfo: () => context('null'),
  getLatestBlockhash: () => context(`{"blockhash":"${BLOCKHASH}","lastValidBlockHeight":1150}`),
  getSignaturesForAddress: () => '[]',
  getBlock: () => 'null',
  requestAirdrop: () => `"${encodeBase58(Buffer.alloc(64, 5))}"`,
  sendTransaction: (raw) => {
    const { params } = JSON.parse(raw) as { params: [string] };
    return `"${encodeBase58(Buffer.from(params[0], 'base64').subarray(1, 65))}"`;
  },
};

const good: Behaviour = ({ id, method, raw }, reply) =>
  send(reply, `{"jsonrpc":"2.0","result":${results[method]?.(raw) ?? 'null'},"id":${id}}\n`);

/** Treats every second request for a method in one way, the others normally. */
const everySecond = (bad: Behaviour): Behaviour => {
  const requests = new Map<string, number>();
  return (request, reply, socket) => {
    const before = requests.get(request.method) ?? 0;
    requests.set(request.method, before + 1);
    (before % 2 === 0 ? bad : good)(request, reply, socket);
  };
};

const alreadyProcessed = failing(
  -32002,
  'Transaction simulation failed: This transaction has already been processed',
  { err: 'AlreadyProcessed', logs: [] },
);

let one: MockNode;
let other: MockNode;
let service: RunningService;
let server: TestRpcClient;

beforeAll(async () => {
  [one, other] = await Promise.all([startMock(good), startMock(good)]);
  service = await startService({
    configuration: `
      [[upstream]]
      url = "${one.url}"
      [[upstream]]
      url = "${other.url}"
      [internal.upstream_pool]
      backoff_ms = 5
      circuit_open_ms = 10
      cordon_ms = 10
      poll_interval_ms = 50
    `,
  });
  server = createRpcClient(service.ready.rpcUrl, service.key);
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([one?.close(), other?.close()]);
});
afterEach(() => {
  one.become(good);
  other.become(good);
});

const reads: readonly (readonly [method: string, params: readonly unknown[]])[] = [
  ['getHealth', []],
  ['getBalance', [account]],
  ['getAccountInfo', [account, { encoding: 'base64' }]],
  ['getLatestBlockhash', []],
  ['getSignaturesForAddress', [account]],
  ['getBlock', [900]],
];

const pairs: readonly (readonly [name: string, one: () => Behaviour, other: () => Behaviour])[] = [
  ['one dies mid-request', () => dyingAfterRequest, () => good],
  ['one dies in the middle of its response', () => dyingMidBody, () => good],
  ['one is behind', () => behind, () => good],
  [
    'one dies and the other is behind, each every second time',
    () => everySecond(dyingAfterRequest),
    () => everySecond(behind),
  ],
];

function become([, first, second]: (typeof pairs)[number]): void {
  one.become(first());
  other.become(second());
}

const countOf = (method: string): number => one.count(method) + other.count(method);
const ROUNDS = 3;
let serial = 0;

function signedTransfer(blockhash = BLOCKHASH): Readonly<{ wire: Buffer; signature: string }> {
  const transfer = SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: PublicKey.default,
    lamports: ++serial,
  });
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(
    transfer,
  );
  transaction.sign(payer);
  return { wire: transaction.serialize(), signature: encodeBase58(transaction.signature!) };
}

const sendParams = (wire: Buffer) => [wire.toString('base64'), { encoding: 'base64' }];
const accepted = (signature: string) => ({ status: 200, body: { jsonrpc: '2.0', result: signature, id: 1 } });

describe.each(pairs)('when of two nodes %s', (...pair) => {
  it('every read is answered', async () => {
    become(pair);
    for (const [method, params] of Array.from({ length: ROUNDS }, () => reads).flat()) {
      const { text } = await server.call(method, params);
      expect(text).toBe(`{"jsonrpc":"2.0","result":${results[method]!('')},"id":1}\n`);
    }
  });

  it('no transaction is lost', async () => {
    become(pair);
    for (const { wire, signature } of Array.from({ length: 6 }, () => signedTransfer())) {
      expect(await server.call('sendTransaction', sendParams(wire))).toMatchObject(accepted(signature));
    }
  });

  it('no airdrop reaches a node twice, or two nodes', async () => {
    become(pair);
    const before = countOf('requestAirdrop');
    const answers = [];
    for (let i = 1; i <= 6; i++) {
      answers.push(await server.call('requestAirdrop', [account, LAMPORTS_PER_SOL]));
      expect(countOf('requestAirdrop') - before).toBe(i);
    }
    const codes = answers.map(({ body }) => body.error?.code ?? 'answered');
    expect([-32050, -32005, 'answered']).toEqual(expect.arrayContaining(codes));
  });
});

describe('a transaction whose first node dies after accepting it', () => {
  it('returns its signature when the second node already knows it', async () => {
    one.become(dyingAfterRequest);
    other.become(dyingAfterRequest);
    let taken = 0;
    const { wire, signature } = signedTransfer();
    // The service's own polls and earlier transactions do not count.
    const firstDies: Behaviour = (request, reply, socket) => {
      if (!request.raw.includes(wire.toString('base64'))) return good(request, reply, socket);
      return (taken++ === 0 ? dyingAfterRequest : alreadyProcessed)(request, reply, socket);
    };
    one.become(firstDies);
    other.become(firstDies);
    expect(await server.call('sendTransaction', sendParams(wire))).toMatchObject(accepted(signature));
  });

  it('is never reported as failed: its outcome is unknown, and its signature is returned', async () => {
    one.become(dyingAfterRequest);
    other.become(dyingAfterRequest);
    const { wire, signature } = signedTransfer();
    const { status, body } = await server.call('sendTransaction', sendParams(wire));
    expect(status).toBe(503);
    expect(body.error).toMatchObject({
      code: -32050,
      data: { code: 'UPSTREAM_UNAVAILABLE', outcome: 'unknown', signature },
    });
  });
});

describe('without a node that can answer', () => {
  it('a read fails as unavailable when both nodes die', async () => {
    one.become(dyingAfterRequest);
    other.become(dyingMidBody);
    const { status, body } = await server.call('getBalance', [account]);
    expect(status).toBe(503);
    expect(body.error).toMatchObject({ code: -32050, data: { code: 'UPSTREAM_UNAVAILABLE' } });
  });

  it('a read returns the node’s own error when both are behind', async () => {
    one.become(behind);
    other.become(behind);
    const { status, text } = await server.call('getBalance', [account]);
    expect(status).toBe(200);
    expect(text).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32005,"message":"Node is behind by 150 slots","data":{"numSlotsBehind":150}},"id":1}\n',
    );
  });
});
