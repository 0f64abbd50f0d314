import { expect, it, onTestFinished, vi } from 'vitest';
import { ByteWriter } from '../../base/bytes.ts';
import type { JsonValue } from '../../base/json.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import { Chain } from '../chain/chain.ts';
import { allHoldingsOf, holdingsOf } from './token-holdings.ts';

const WALLET = programs.vote;

function accountOf(
  amount: bigint,
  owner: string = programs.token,
  mint: Address = programs.stake,
): JsonValue {
  const data = new ByteWriter(165)
    .bytes(addressBytes(mint))
    .bytes(addressBytes(WALLET))
    .u64(amount)
    .zeros(36)
    .u8(1)
    .zeros(56)
    .finish();
  return {
    pubkey: programs.memoV1,
    account: {
      ...{ lamports: 1, owner, executable: false, rentEpoch: 0 },
      data: [Buffer.from(data).toString('base64'), 'base64'],
    },
  };
}

const chainOf = (value: JsonValue[]): Chain => {
  const caller: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: async (_network, _method, [, which]) => ({
      value: (which as { programId: string }).programId === programs.token ? value : [],
    }),
  };
  return new Chain('mainnet-beta', caller);
};

it('rejects a wallet with more token accounts than the limit', async () => {
  const two = [accountOf(1n), accountOf(2n)];
  await expect(holdingsOf(chainOf(two), WALLET, { accountsMax: 1 })).rejects.toMatchObject({
    code: 'ANSWER_TOO_LARGE',
  });
  expect(await holdingsOf(chainOf([...two, accountOf(0n)]), WALLET, { accountsMax: 2 })).toHaveLength(2);
});

it("sorts by mint regardless of the node's order", async () => {
  const mints = [programs.vote, programs.ata, programs.stake];
  const accounts = mints.map((mint) => accountOf(1n, programs.token, mint));
  const mintsOf = (accounts: JsonValue[]) =>
    holdingsOf(chainOf(accounts), WALLET).then((all) => all.map(({ mint }) => mint));
  expect(await mintsOf(accounts)).toEqual([...mints].sort());
  expect(await mintsOf(accounts.toReversed())).toEqual([...mints].sort());
});

it('ignores accounts of other programs and malformed token accounts', async () => {
  const short = accountOf(1n) as { account: { data: JsonValue } };
  short.account.data = ['AAAA', 'base64'];
  expect(await holdingsOf(chainOf([accountOf(1n, programs.system), short as JsonValue]), WALLET)).toEqual([]);
});

it('ignores accounts not owned by the requested program', async () => {
  const accounts = [accountOf(1n, programs.token2022), accountOf(0n)];
  expect((await allHoldingsOf(chainOf(accounts), WALLET)).map(({ amount }) => amount)).toEqual([0n]);
});

it('yields to other work while decoding a large wallet', async () => {
  // The fake clock advances 1 ms per reading, so that yielding does not depend on machine speed.
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs++);
  onTestFinished(() => clock.mockRestore());
  let turns = 0;
  let isDone = false;
  const other = (): void => {
    turns++;
    if (!isDone) setImmediate(other);
  };
  const accounts = new Array<JsonValue>(10_000).fill(accountOf(1n));
  setImmediate(other);
  expect(await holdingsOf(chainOf(accounts), WALLET)).toHaveLength(10_000);
  isDone = true;
  expect(turns).toBeGreaterThan(1_000);
});
