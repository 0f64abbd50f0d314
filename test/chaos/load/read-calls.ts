import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { Direct } from '../nodes/direct.ts';
import type { SeededRandom } from '../nodes/fault-injector.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';

/** A read, and a check of its result that returns a fault or null. */
export type ReadCall = Readonly<{
  method: string;
  params: readonly unknown[];
  check: (result: unknown) => string | null;
  /** Whether its response is streamed and may therefore be incomplete. */
  isLong?: boolean;
}>;

type Weighted = Readonly<{ weight: number; call: ReadCall }>;

const ADDRESSES_AT_ONCE = 5;
const HISTORY_SLOTS = 40;

const preview = (value: unknown): string => JSON.stringify(value)?.slice(0, 160) ?? 'nothing';

function withoutSlot(result: unknown): unknown {
  const hasContext =
    typeof result === 'object' && result !== null && 'context' in result && 'value' in result;
  return hasContext ? (result as { value: unknown }).value : result;
}

async function settled(
  ledger: Direct,
  method: string,
  params: readonly unknown[],
  isLong = false,
): Promise<ReadCall> {
  const truth = JSON.stringify(withoutSlot(await ledger.result(method, params)));
  const check = (result: unknown): string | null => {
    const actual = JSON.stringify(withoutSlot(result));
    return actual === truth ? null : `${preview(withoutSlot(result))}, not ${truth.slice(0, 160)}`;
  };
  return { method, params, check, isLong };
}

const isNumber = (result: unknown): boolean => typeof withoutSlot(result) === 'number';
const isObject = (result: unknown): boolean =>
  typeof withoutSlot(result) === 'object' && withoutSlot(result) !== null;

const moving = (
  method: string,
  params: readonly unknown[],
  isRight: (result: unknown) => boolean,
): ReadCall => ({
  method,
  params,
  check: (result) => (isRight(result) ? null : `${preview(result)} is not a valid result`),
});

/** Reads of constant accounts. */
async function accountReads(ledger: Direct, { medium, long }: ChaosFixture): Promise<Weighted[]> {
  const base64 = { encoding: 'base64' };
  const some = medium.addresses.slice(0, ADDRESSES_AT_ONCE);
  const sliced = { ...base64, commitment: 'confirmed', dataSlice: { offset: 0, length: 8 } };
  const reads: [weight: number, method: string, params: unknown[], isLong?: boolean][] = [
    ...some.map((address, at): [number, string, unknown[]] => {
      return [3, 'getAccountInfo', [address, { ...base64, commitment: commitments[at % 3] }]];
    }),
    [6, 'getMultipleAccounts', [some, { ...base64, commitment: 'processed' }]],
    [4, 'getProgramAccounts', [medium.owner, sliced]],
    [1.5, 'getProgramAccounts', [medium.owner, { ...base64, withContext: true }]],
    [0.4, 'getProgramAccounts', [long.owner, base64], true],
  ];
  return Promise.all(
    reads.map(async ([weight, ...read]) => ({ weight, call: await settled(ledger, ...read) })),
  );
}

async function historyReads(ledger: Direct, { recipients }: ChaosFixture): Promise<Weighted[]> {
  const to = await ledger.result<number>('getSlot');
  const from = Math.max(0, to - HISTORY_SLOTS);
  const slots = await ledger.result<number[]>('getBlocks', [from, to]);
  const address = recipients.at(-1)?.address ?? '';
  const signatures = await ledger.result<{ signature: string }[]>('getSignaturesForAddress', [address]);
  const version = { maxSupportedTransactionVersion: 0 };
  const named = signatures.map(({ signature }) => signature);
  const ofBlocks = slots
    .slice(-ADDRESSES_AT_ONCE)
    .flatMap((slot) => [
      settled(ledger, 'getBlock', [slot, { ...version, rewards: true, transactionDetails: 'full' }]),
      settled(ledger, 'getBlock', [slot, { ...version, rewards: false, transactionDetails: 'signatures' }]),
      settled(ledger, 'getBlockTime', [slot]),
    ]);
  const ofTransactions = named.map((one) =>
    settled(ledger, 'getTransaction', [one, { ...version, encoding: 'base64' }]),
  );
  const lists = [
    settled(ledger, 'getBlocks', [from, to]),
    settled(ledger, 'getSignaturesForAddress', [address, { limit: 10 }]),
    settled(ledger, 'getSignatureStatuses', [named, { searchTransactionHistory: true }]),
  ];
  const all = await Promise.all([...ofBlocks, ...ofTransactions, ...lists]);
  return all.map((call) => ({ weight: 2, call }));
}

async function chainReads(ledger: Direct): Promise<Weighted[]> {
  const all = await Promise.all([
    settled(ledger, 'getGenesisHash', []),
    settled(ledger, 'getEpochSchedule', []),
    settled(ledger, 'getMinimumBalanceForRentExemption', [165]),
    settled(ledger, 'getFirstAvailableBlock', []),
  ]);
  return all.map((call) => ({ weight: 1, call }));
}

function headReads({ payer, recipients }: ChaosFixture): Weighted[] {
  const at = (commitment: Commitment) => ({ commitment });
  const ofCommitment = commitments.flatMap((commitment) => [
    moving('getSlot', [at(commitment)], isNumber),
    moving('getBlockHeight', [at(commitment)], isNumber),
    moving('getEpochInfo', [at(commitment)], isObject),
    moving('getLatestBlockhash', [at(commitment)], isObject),
    moving('getBalance', [payer.address, at(commitment)], isNumber),
    moving('getBalance', [recipients[0]?.address, at(commitment)], isNumber),
  ]);
  const others = [
    moving('getHealth', [], (result) => result === 'ok'),
    moving('getTransactionCount', [], isNumber),
    moving('getVoteAccounts', [], isObject),
    moving('getRecentPerformanceSamples', [5], Array.isArray),
    moving('getSupply', [{ excludeNonCirculatingAccountsList: true }], isObject),
  ];
  return [
    ...ofCommitment.map((call) => ({ weight: 3, call })),
    ...others.map((call) => ({ weight: 1, call })),
  ];
}

export async function readCallsOf(fixture: ChaosFixture): Promise<(random: SeededRandom) => ReadCall> {
  const { ledger } = fixture;
  const weighted = [
    ...(await accountReads(ledger, fixture)),
    ...(await historyReads(ledger, fixture)),
    ...(await chainReads(ledger)),
    ...headReads(fixture),
  ];
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    let remaining = random.between(0, total);
    for (const { weight, call } of weighted) {
      remaining -= weight;
      if (remaining <= 0) return call;
    }
    return weighted[0]!.call;
  };
}
