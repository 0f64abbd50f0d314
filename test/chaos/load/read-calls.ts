import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { Direct } from '../nodes/direct.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';
import type { SeededRandom } from '../nodes/seeded-random.ts';

/** A read, and what is wrong with a result of it, in words; null when nothing is. */
export type ReadCall = Readonly<{
  method: string;
  params: readonly unknown[];
  check: (result: unknown) => string | null;
  /** Its answer is passed on while it comes: it may break off once it has begun. */
  isLong?: boolean;
}>;

/** How often a question is asked, against others. */
type Weighed = Readonly<{ weight: number; question: ReadCall }>;

const ADDRESSES_AT_ONCE = 5;
/** Slots that questions about history reach over. */
const HISTORY_SLOTS = 40;

const preview = (value: unknown): string => JSON.stringify(value)?.slice(0, 160) ?? 'nothing';

/** What a result says, without the slot of which it says it. */
function withoutSlot(result: unknown): unknown {
  const isOfASlot = typeof result === 'object' && result !== null && 'context' in result && 'value' in result;
  return isOfASlot ? (result as { value: unknown }).value : result;
}

/** A read whose answer never changes: the ledger says what it is. */
async function settled(
  ledger: Direct,
  method: string,
  params: readonly unknown[],
  isLong = false,
): Promise<ReadCall> {
  const truth = JSON.stringify(withoutSlot(await ledger.result(method, params)));
  const check = (result: unknown): string | null => {
    const actual = JSON.stringify(withoutSlot(result));
    return actual === truth
      ? null
      : `${preview(withoutSlot(result))}, and the ledger says ${truth.slice(0, 160)}`;
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
  check: (result) => (isRight(result) ? null : `${preview(result)} is no answer to that`),
});

/** Questions about accounts that nobody changes. */
async function aboutAccounts(ledger: Direct, { medium, long }: ChaosFixture): Promise<Weighed[]> {
  const base64 = { encoding: 'base64' };
  const some = medium.addresses.slice(0, ADDRESSES_AT_ONCE);
  const sliced = { ...base64, commitment: 'confirmed', dataSlice: { offset: 0, length: 8 } };
  return [
    ...(await Promise.all(
      some.map(async (address, at) => ({
        weight: 3,
        question: await settled(ledger, 'getAccountInfo', [
          address,
          { ...base64, commitment: commitments[at % 3] },
        ]),
      })),
    )),
    {
      weight: 6,
      question: await settled(ledger, 'getMultipleAccounts', [some, { ...base64, commitment: 'processed' }]),
    },
    { weight: 4, question: await settled(ledger, 'getProgramAccounts', [medium.owner, sliced]) },
    {
      weight: 1.5,
      question: await settled(ledger, 'getProgramAccounts', [medium.owner, { ...base64, withContext: true }]),
    },
    { weight: 0.4, question: await settled(ledger, 'getProgramAccounts', [long.owner, base64], true) },
  ];
}

/** Questions about what is finalized. */
async function aboutHistory(ledger: Direct, { recipients }: ChaosFixture): Promise<Weighed[]> {
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
  return all.map((question) => ({ weight: 2, question }));
}

/** Questions about the chain that have one answer. */
async function aboutTheChain(ledger: Direct): Promise<Weighed[]> {
  const all = await Promise.all([
    settled(ledger, 'getGenesisHash', []),
    settled(ledger, 'getEpochSchedule', []),
    settled(ledger, 'getMinimumBalanceForRentExemption', [165]),
    settled(ledger, 'getFirstAvailableBlock', []),
  ]);
  return all.map((question) => ({ weight: 1, question }));
}

/** Questions about what moves. */
function aboutHeads({ payer, recipients }: ChaosFixture): Weighed[] {
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
    ...ofCommitment.map((question) => ({ weight: 3, question })),
    ...others.map((question) => ({ weight: 1, question })),
  ];
}

/** Everything that is asked. */
export class ReadCalls {
  readonly #weighed: readonly Weighed[];
  readonly #weight: number;

  private constructor(weighed: readonly Weighed[]) {
    this.#weighed = weighed;
    this.#weight = weighed.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Reads what is true from the ledger. */
  static async of(scene: ChaosFixture): Promise<ReadCalls> {
    const { ledger } = scene;
    return new ReadCalls([
      ...(await aboutAccounts(ledger, scene)),
      ...(await aboutHistory(ledger, scene)),
      ...(await aboutTheChain(ledger)),
      ...aboutHeads(scene),
    ]);
  }

  next(chance: SeededRandom): ReadCall {
    let remaining = chance.between(0, this.#weight);
    for (const { weight, question } of this.#weighed) {
      remaining -= weight;
      if (remaining <= 0) return question;
    }
    return this.#weighed[0]?.question as ReadCall;
  }
}
