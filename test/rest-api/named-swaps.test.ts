import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { key, mint } from '../../packages/localnet/test/support/accounts.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { parseSelected } from '../../src/rest-api/transaction/parse_selected.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { nativeMint, programs } from '../../src/solana/programs.ts';
import { anchorData } from '../decoding/swap/transaction-builder.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';

const PUMP_AMM = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA';
const [TRADER, POOL, COIN, NAMELESS] = [81, 82, 83, 84].map(key);
const accounts = [85, 86, 87, 88].map(key);

let rig: Rig;
let caller: LedgerCaller;

beforeAll(async () => {
  rig = await openRig({
    accounts: [
      [COIN!, mint(1000n, 6)],
      [NAMELESS!, mint(1000n, 6)],
    ],
  });
  rig.freeze(2);
  caller = new LedgerCaller(rig);
  caller.answering = ({ method, params: [signature] }) =>
    method === 'getTransaction' ? Promise.resolve(sales.get(String(signature)) ?? null) : undefined;
});
afterAll(() => rig.close());

type Members = { [name: string]: JsonValue };

/** A trader sells two tokens to a pool for three SOL. */
function sale(signature: string, token: string): Members {
  const [coins, vault, purse, till] = accounts;
  const holding = (accountIndex: number, of: string, owner: string, amount: string, decimals: number) => ({
    ...{ accountIndex, mint: of, owner, programId: programs.token, uiTokenAmount: { amount, decimals } },
  });
  const transfer = (source: string, destination: string, authority: string, amount: string): Members => ({
    ...{ programId: programs.token, stackHeight: 2 },
    parsed: { type: 'transfer', info: { source, destination, authority, amount } },
  });
  const balances = (sold: bigint): JsonValue[] => [
    holding(1, token, TRADER!, String(2_000_000n - sold), 6),
    holding(2, token, POOL!, String(sold), 6),
    holding(3, nativeMint, TRADER!, String((3_000_000_000n * sold) / 2_000_000n), 9),
    holding(4, nativeMint, POOL!, String(3_000_000_000n - (3_000_000_000n * sold) / 2_000_000n), 9),
  ];
  const instruction = {
    ...{ programId: PUMP_AMM, accounts: [POOL!, TRADER!], stackHeight: 1 },
    data: encodeBase58(anchorData('sell', 2_000_000n, 1n)),
  };
  const inner = [transfer(coins!, vault!, TRADER!, '2000000'), transfer(till!, purse!, POOL!, '3000000000')];
  const keys = [TRADER, coins, vault, purse, till].map((pubkey, at) => ({
    pubkey: pubkey!,
    signer: at === 0,
  }));
  return {
    ...{ slot: 5, blockTime: 1_700_000_000 },
    transaction: { signatures: [signature], message: { accountKeys: keys, instructions: [instruction] } },
    meta: {
      ...{ err: null, fee: 5000, innerInstructions: [{ index: 0, instructions: inner }] },
      ...{ preTokenBalances: balances(0n), postTokenBalances: balances(2_000_000n) },
    },
  };
}

const signatures = [1, 2].map((fill) => encodeBase58(new Uint8Array(64).fill(fill)));
const sales = new Map(
  signatures.map((signature, at) => [signature, sale(signature, [COIN!, NAMELESS!][at]!)]),
);

const services: Partial<Services> = {
  tokenList: {
    find: (of) => (of === COIN ? { name: 'Coin', symbol: 'CN', image: 'https://x/coin.png' } : null),
  },
  offChain: { read: async () => new Map(), forget: () => undefined },
};

const sides = async (): Promise<Members[]> => {
  const fields = { transaction_signatures: signatures };
  const { result } = await answerOf(parseSelected, fields, caller, services);
  return (result as { actions: { info: Members }[] }[]).map(({ actions }) => actions[0]!.info);
};

describe('token names of swaps', () => {
  it('come from list and chain, looked up once for all transactions', async () => {
    const [coin, nameless] = await sides();
    expect(coin).toMatchObject({
      swapper: TRADER,
      tokens_swapped: {
        in: { token_address: COIN, name: 'Coin', symbol: 'CN', image_uri: 'https://x/coin.png', amount: 2 },
        out: { token_address: nativeMint, name: 'Wrapped SOL', symbol: 'SOL', amount: 3 },
      },
      swaps: [{ liquidity_pool_address: POOL, name: 'CN-SOL', source: 'Pump.fun AMM' }],
    });
    expect(nameless).toMatchObject({
      tokens_swapped: { in: { token_address: NAMELESS, name: 'Unknown Token', symbol: 'Token', amount: 2 } },
    });
    expect(caller.counts()).toEqual({ getTransaction: 2, getMultipleAccounts: 1 });
  });

  it('fail when nodes do not respond', async () => {
    const { answering } = caller;
    caller.answering = (made) =>
      made.method === 'getMultipleAccounts' ? Promise.resolve({ value: 'none' }) : answering(made);
    const failed = await failureOf(parseSelected, { transaction_signatures: signatures }, caller, services);
    expect(failed).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    caller.answering = answering;
  });
});
