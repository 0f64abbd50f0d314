import { describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { dyingAfterRequest, failing, healthy, inSequence, silent, throttling } from './mock/behaviors.ts';
import { call, failureOf, type Scene, stageForEach } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';

/** A signature and a placeholder message: enough for mock nodes. */
const wire = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 7), Buffer.alloc(120, 3)]);
const signature = encodeBase58(wire.subarray(1, 65));
const accepted = healthy(JSON.stringify(signature));
const base64 = ['sendTransaction', [wire.toString('base64'), { encoding: 'base64' }]] as const;

const preflightError = (message: string, err: string): Behaviour =>
  failing(-32002, `Transaction simulation failed: ${message}`, { err, logs: [] });
const alreadyProcessed = preflightError('This transaction has already been processed', 'AlreadyProcessed');
const blockhashNotFound = preflightError('Blockhash not found', 'BlockhashNotFound');

const stage = stageForEach();

/** Two nodes with behaviors by the order of calls, whichever node is first. */
const inOrder = (first: Behaviour, second: Behaviour, limits?: Parameters<typeof stage>[1]): Promise<Scene> =>
  stage(Array(2).fill(inSequence(first, second)), limits);

const total = ({ counts }: Scene): number => counts().reduce((sum, count) => sum + count);

describe('sendTransaction', () => {
  it.each([
    ['drops the connection after the request', dyingAfterRequest],
    ['never responds', silent],
    ['throttles', throttling('30')],
    ['does not know the blockhash yet', blockhashNotFound],
  ])('is never lost when the first node %s', async (_name, first) => {
    // Short only for a node that does not respond.
    const scene = await inOrder(first, accepted, { attemptTimeoutMs: first === silent ? 800 : 4_000 });
    expect(await scene.send(...base64)).toBe(JSON.stringify(signature));
    expect(total(scene)).toBe(2);
  });

  it.each([['base64', base64[1]]])(
    'returns the signature when a lost first attempt had succeeded (%s)',
    async (_name, params) => {
      const { send } = await inOrder(dyingAfterRequest, alreadyProcessed);
      expect(await send('sendTransaction', params)).toBe(JSON.stringify(signature));
    },
  );

  it('does not report a transaction as dead that an earlier node may have accepted', async () => {
    const { pool } = await inOrder(dyingAfterRequest, blockhashNotFound);
    const failure = await failureOf(request(pool, call(...base64)));
    expect(failure.facts).toEqual({ network: 'devnet', outcome: 'unknown', signature });
  });

  it('continues when the caller cancels', async () => {
    const leave = new AbortController();
    const scene = await inOrder((...given) => {
      leave.abort();
      dyingAfterRequest(...given);
    }, accepted);
    expect(await scene.send(...base64, leave.signal)).toBe(JSON.stringify(signature));
    expect(total(scene)).toBe(2);
  });
});

describe('requestAirdrop', () => {
  const airdrop = ['requestAirdrop', ['11111111111111111111111111111111', 1]] as const;

  it('continues when the caller cancels', async () => {
    const leave = new AbortController();
    const { send } = await stage([
      (...given) => {
        leave.abort();
        healthy()(...given);
      },
    ]);
    expect(await send(...airdrop, leave.signal)).toBe('"ok"');
  });
});
