import { Connection, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../../src/base/json.ts';
import { programs } from '../../../src/solana/programs.ts';
import type { rpcHandlers } from '../src/rpc-handlers.ts';
import { openRig, type Rig } from './rig.ts';
import { key, mint, tokenAccount } from './support/accounts.ts';

const MINT = key(10);
const OWNER = key(20);
const HOLDING = key(30);

let ledger: Rig;
let connection: Connection;
beforeAll(async () => {
  ledger = await openRig({
    accounts: [
      [MINT, mint(150n, 2)],
      [HOLDING, tokenAccount(MINT, OWNER, 150n, key(21))],
    ],
  });
  ledger.freeze(40);
  connection = new Connection('http://ledger.invalid', { fetch: fetchFromLedger as typeof fetch });
});
afterAll(() => ledger.close());

type Call = { id: string; method: keyof typeof rpcHandlers; params?: JsonValue };

async function answer({ id, method, params }: Call): Promise<string> {
  const result = await ledger.callRpcRaw(method, params);
  return result.startsWith('{"error":')
    ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${result.slice(1)}`
    : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Fake network: JSON-RPC in, JSON-RPC out. */
async function fetchFromLedger(_url: string, { body }: { body: string }): Promise<Response> {
  return new Response(await answer(parseJson(body) as Call));
}

/** web3.js validates every response. */
describe('@solana/web3.js reads', () => {
  it('accounts', async () => {
    const owner = new PublicKey(OWNER);
    const holding = new PublicKey(HOLDING);
    expect((await connection.getAccountInfo(holding))?.data.length).toBe(165);
    expect((await connection.getParsedAccountInfo(holding)).value?.data).toMatchObject({
      program: 'spl-token',
    });
    expect(await connection.getBalance(holding)).toBe(10_000_000);
    expect(await connection.getMultipleAccountsInfo([holding, owner])).toMatchObject([
      { lamports: 10_000_000 },
      null,
    ]);
    expect(await connection.getProgramAccounts(new PublicKey(programs.stake))).toHaveLength(1);
    expect(await connection.getParsedProgramAccounts(new PublicKey(programs.vote))).toHaveLength(1);
    expect((await connection.getSupply()).value.nonCirculatingAccounts).toHaveLength(110);
    expect(await connection.getMinimumBalanceForRentExemption(0)).toBe(890_880);
  });

  it('tokens', async () => {
    const [owner, mintKey] = [new PublicKey(OWNER), new PublicKey(MINT)];
    const amount = { amount: '150', decimals: 2, uiAmount: 1.5, uiAmountString: '1.5' };
    expect((await connection.getTokenSupply(mintKey)).value).toEqual(amount);
    expect((await connection.getTokenAccountBalance(new PublicKey(HOLDING))).value).toEqual(amount);
    expect((await connection.getTokenLargestAccounts(mintKey)).value).toMatchObject([amount]);
    expect((await connection.getTokenAccountsByOwner(owner, { mint: mintKey })).value).toHaveLength(1);
    const parsed = await connection.getParsedTokenAccountsByOwner(owner, { mint: mintKey });
    expect(parsed.value[0]?.account.data.parsed).toMatchObject({ info: { tokenAmount: amount } });
  });

  it('the chain', async () => {
    const { identity, voteAccount, hash } = ledger.node.genesis;
    expect(await connection.getSlot('processed')).toBe(40);
    expect(await connection.getBlockHeight('processed')).toBe(40);
    expect(await connection.getTransactionCount()).toBe(0);
    expect(await connection.getEpochInfo()).toMatchObject({ epoch: 0, slotsInEpoch: 432_000 });
    expect(await connection.getEpochSchedule()).toMatchObject({ warmup: false });
    expect(await connection.getGenesisHash()).toBe(hash);
    expect(await connection.getVersion()).toMatchObject({ 'solana-core': '4.2.1' });
    expect(await connection.getSlotLeader()).toBe(identity);
    expect((await connection.getSlotLeaders(0, 2)).map(String)).toEqual([identity, identity]);
    expect((await connection.getLeaderSchedule())[identity]).toHaveLength(432_000);
    expect((await connection.getVoteAccounts('processed')).current).toMatchObject([
      { votePubkey: voteAccount },
    ]);
    expect(await connection.getClusterNodes()).toMatchObject([{ pubkey: identity }]);
    expect(await connection.getInflationRate()).toMatchObject({ total: 0.08 });
    expect((await connection.getStakeMinimumDelegation()).value).toBe(1_000_000_000);
  });

  it('validators', async () => {
    const { identity, faucet } = ledger.node.genesis;
    expect((await connection.getBlockProduction()).value.byIdentity[identity]).toEqual([1, 1]);
    const largest = (await connection.getLargestAccounts()).value;
    expect(largest.slice(0, 3).map(({ address }) => address.toBase58())).toContain(faucet);
    expect(await connection.getInflationGovernor()).toMatchObject({ initial: 0.08, foundation: 0.05 });
    expect(await connection.getRecentPerformanceSamples(5)).toEqual([]);
  });
});
