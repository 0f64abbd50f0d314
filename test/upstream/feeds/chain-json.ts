/** JSON of a scripted chain. */

export const KEY = 'Vote111111111111111111111111111111111111111';

export const accountJson = (lamports: number, owner = KEY) => ({
  ...{ lamports, data: ['', 'base64'], owner, executable: false, rentEpoch: 0, space: 0 },
});

export const accountState = (slot: number, lamports: number) => ({
  context: { slot },
  value: accountJson(lamports),
});

export const emptyBlock = (slot: number) => ({
  ...{ blockhash: KEY, previousBlockhash: KEY, parentSlot: slot - 1, blockHeight: slot },
  ...{ blockTime: 1, transactions: [], rewards: [] },
});

export const slotRange = ([from, to]: readonly unknown[], tip = Number.POSITIVE_INFINITY): number[] =>
  Array.from(
    { length: Math.max(0, Math.min(Number(to), tip) - Number(from) + 1) },
    (_, at) => Number(from) + at,
  );
