import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as kit from '@solana/kit';
import { Connection, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { eventually } from '../../../test/service/eventually.ts';
import { type OpenLocalNode, openLocalNode } from '../src/genesis/open.ts';
import { type LocalnetServer, startLocalnetServer } from '../src/http/server.ts';

/** Validator, stake and reward reads after two epochs of manual slots. */
const SLOTS_PER_EPOCH = 32;
let ledgerDir: string;
let node: OpenLocalNode;
let server: LocalnetServer;
let connection: Connection;
let rpc: kit.Rpc<kit.SolanaRpcApi>;
/** Milliseconds; slots take 400. */
let now = 1_800_000_000_000;

beforeAll(async () => {
  ledgerDir = mkdtempSync(join(tmpdir(), 'solway-ledger-'));
  node = await openLocalNode({ ledgerDir, manual: true, slotsPerEpoch: SLOTS_PER_EPOCH, now: () => now });
  for (let slot = 0; slot < 200; slot++) {
    now += 400;
    node.freeze();
  }
  await eventually(async () => node.bank('finalized').slot === 169n, 'slot 169 is finalized');
  server = await startLocalnetServer(node, { port: 0, log: createLogger('silent', () => {}) });
  const url = `http://127.0.0.1:${server.port}`;
  connection = new Connection(url, 'confirmed');
  rpc = kit.createSolanaRpc(url);
});
afterAll(async () => {
  await server?.close();
  await node?.stop();
  rmSync(ledgerDir, { recursive: true, force: true });
});

describe('@solana/web3.js v1', () => {
  it('reads stake rewards', async () => {
    const stake = new PublicKey(node.genesis.stakeAccount);
    const [reward] = await connection.getInflationReward([stake], 4);
    expect(reward).toMatchObject({ epoch: 4, effectiveSlot: 161, commission: 0 });
    const block = await connection.getBlock(161, { transactionDetails: 'none', rewards: true });
    expect(block?.rewards).toMatchObject([{ pubkey: stake.toBase58(), lamports: reward?.amount }]);
  });

  it('reads block production, largest accounts and inflation', async () => {
    const { value } = await connection.getBlockProduction();
    expect(value.byIdentity[node.genesis.identity]).toEqual([8, 8]);
    const largest = (await connection.getLargestAccounts()).value;
    expect(largest.slice(0, 3).map(({ address }) => address.toBase58())).toContain(node.genesis.faucet);
    expect(await connection.getInflationGovernor()).toMatchObject({ initial: 0.08, foundation: 0.05 });
    expect((await connection.getVoteAccounts()).current).toHaveLength(1);
  });

  it('reads samples of whole minutes', async () => {
    const samples = await connection.getRecentPerformanceSamples(5);
    // 200 slots of 400 ms are 80 s: one full minute, including the genesis.
    expect(samples).toHaveLength(1);
    expect(samples[0]).toMatchObject({ numSlots: 151, numTransactions: 0, samplePeriodSecs: 60 });
  });
});

describe('@solana/kit', () => {
  it('reads the same with exact integers', async () => {
    const stake = kit.address(node.genesis.stakeAccount);
    const [reward] = await rpc.getInflationReward([stake], { epoch: 4n }).send();
    expect(reward).toMatchObject({ epoch: 4n, effectiveSlot: 161n });
    expect(typeof reward?.amount).toBe('bigint');
    expect(await rpc.getMaxRetransmitSlot().send()).toBe(200n);
    expect(await rpc.getMaxShredInsertSlot().send()).toBe(200n);
    expect((await rpc.getHighestSnapshotSlot().send()).full).toBe(0n);
    const { commitment, totalStake } = await rpc.getBlockCommitment(100n).send();
    expect(commitment?.at(-1)).toBe(totalStake);
    expect(totalStake).toBeGreaterThan(999_000_000_000_000n);
  });

  it('receives errors with known codes', async () => {
    const request = rpc.getInflationReward([], { epoch: 50n }).send();
    await expect(request).rejects.toMatchObject({
      context: { __code: kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE },
    });
  });
});
