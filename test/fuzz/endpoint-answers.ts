import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../src/base/json.ts';
import { metadataProgram } from '../../src/decoding/nft/metaplex-addresses.ts';
import { snsPrograms } from '../../src/decoding/sns/name-account.ts';
import { noTokenList } from '../../src/decoding/token/token-list.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { RestCaller, RestInput } from '../../src/protocol/rest/route.ts';
import { endpoints } from '../../src/rest-api/registry.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { programs } from '../../src/solana/programs.ts';
import { seeds as accounts } from './account-state.ts';
import { seeds as nfts } from './nft.ts';
import { everyField } from './rest-request.ts';

export const from = 'nodes, DAS servers and hosts of metadata';
export const covers = ['decoding/chain/chain.ts', 'decoding/transaction/parse-transaction.ts'];

const routes = endpoints.map((endpoint, at) => ({
  endpoint,
  of: (services: Services) => routeOf(endpoints[at] as (typeof endpoints)[number], services),
}));

const KEY = everyField.wallet;
const CONTEXT = { slot: 300 };

/** An account as nodes show it. */
const accountOf = (owner: string, data: Uint8Array): JsonValue => ({
  ...{ lamports: 2_039_280, owner, executable: false, rentEpoch: 0, space: data.length },
  data: [Buffer.from(data).toString('base64'), 'base64'],
});
const keyed = (owner: string, data: Uint8Array): JsonValue => ({
  pubkey: KEY,
  account: accountOf(owner, data),
});
const [mint, token] = [accounts[0] as Uint8Array, accounts[1] as Uint8Array];

const instruction = {
  ...{ program: 'system', programId: programs.system, stackHeight: 1 },
  parsed: { type: 'transfer', info: { source: KEY, destination: KEY, lamports: 5 } },
};
const transaction = {
  ...{ slot: 300, blockTime: 1_700_000_000, version: 0 },
  transaction: {
    signatures: [everyField.txn_signature],
    message: {
      accountKeys: [{ pubkey: KEY, signer: true, writable: true, source: 'transaction' }],
      ...{ instructions: [instruction], recentBlockhash: KEY },
    },
  },
  meta: {
    ...{
      err: null,
      fee: 5_000,
      preBalances: [9_000],
      postBalances: [4_000],
      logMessages: ['Program log: a'],
    },
    ...{ innerInstructions: [], preTokenBalances: [], postTokenBalances: [], rewards: [] },
  },
};

/** What each method answers where all is well; `das` is what a DAS server does, `json` what a URI leads to. */
const answers: Record<string, JsonValue> = {
  getBalance: { context: CONTEXT, value: 5 },
  getAccountInfo: { context: CONTEXT, value: accountOf(programs.token, mint) },
  getMultipleAccounts: { context: CONTEXT, value: [accountOf(programs.token, mint)] },
  getTokenAccountsByOwner: { context: CONTEXT, value: [keyed(programs.token, token)] },
  getProgramAccounts: [keyed(programs.stake, accounts[6] as Uint8Array)],
  getSignaturesForAddress: [
    { signature: everyField.txn_signature, slot: 300, err: null, memo: null, blockTime: 1_700_000_000 },
  ],
  getTransaction: transaction,
  getEpochInfo: { absoluteSlot: 300, blockHeight: 290, epoch: 2, slotIndex: 44, slotsInEpoch: 128 },
  getLatestBlockhash: { context: CONTEXT, value: { blockhash: KEY, lastValidBlockHeight: 400 } },
  getMinimumBalanceForRentExemption: 890_880,
  sendTransaction: everyField.txn_signature,
  getSlot: 300,
};
const metadata = {
  ...answers,
  getMultipleAccounts: { context: CONTEXT, value: [accountOf(metadataProgram, nfts[0]!)] },
};
const names = { ...answers, getProgramAccounts: [keyed(snsPrograms.names, new Uint8Array(100).fill(7))] };
const das = JSON.parse(Buffer.from(nfts[7]!).toString()) as JsonValue;
const offChain = JSON.parse(Buffer.from(nfts[6]!).toString()) as JsonValue;

const variants = [
  metadata,
  names,
  { ...answers, das: { items: [das], total: 1 }, json: offChain },
  { ...answers, das },
];

/** Answers by their methods; the first byte names the endpoint that asks. */
export const seeds: readonly Uint8Array[] = routes.flatMap((_, at) =>
  [answers, variants[at % variants.length] ?? answers].map((reported) =>
    Buffer.from([at, ...Buffer.from(writeJson(reported))]),
  ),
);

const away = (): never => {
  throw new Failure('UPSTREAM_UNAVAILABLE');
};
const absent = new Proxy({}, { get: () => away });
const input: RestInput = {
  query: new Map(
    Object.entries(everyField).map(([name, value]) => [
      name,
      Array.isArray(value) ? value : [typeof value === 'object' ? JSON.stringify(value) : String(value)],
    ]),
  ),
  body: everyField as unknown as JsonValue,
  file: null,
};

/** A request that asks more often than this asks for ever. */
const CALLS_MAX = 2_000;

type Reported = { readonly [method: string]: JsonValue };

function servicesOf(reported: Reported): Services {
  return {
    ...{ semiWallets: absent, files: absent, confirmations: absent },
    offChain: {
      read: async (uris: Iterable<string>) => new Map([...uris].map((uri) => [uri, reported.json ?? null])),
    },
    das: { has: () => reported.das !== undefined, request: async () => reported.das ?? null },
    tokenList: noTokenList,
    settings: { historyDays: 30_000, domainSuffix: '.sol' },
  } as unknown as Services;
}

function callerOf(reported: Reported): RestCaller {
  let calls = 0;
  return {
    ownerId: 'family',
    signal: new AbortController().signal,
    request: async (_network, method) => {
      if (++calls > CALLS_MAX) throw new Error(`asks again and again for ${method}`);
      return reported[method] ?? null;
    },
  };
}

/** Whatever is told, an endpoint answers with what its schema promises, or with a failure. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const { endpoint, of } = routes[(bytes[0] ?? 0) % routes.length] as (typeof routes)[number];
  let reported: JsonValue;
  try {
    reported = parseJson(Buffer.from(bytes.subarray(1)).toString());
  } catch {
    return false;
  }
  if (reported === null || typeof reported !== 'object' || Array.isArray(reported)) return false;
  try {
    const { result } = await of(servicesOf(reported)).handle(input, callerOf(reported));
    const read = endpoint.result.safeParse(parseJson(writeJson(result as WritableJson)));
    if (!read.success) throw new Error(`${endpoint.name} promises something else: ${read.error.message}`);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
