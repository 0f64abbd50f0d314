import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../../src/base/json.ts';
import { metadataProgram } from '../../../src/decoding/nft/metaplex-addresses.ts';
import { snsPrograms } from '../../../src/decoding/sns/name-account.ts';
import { noTokenList } from '../../../src/decoding/token/token-list.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { InvalidFields } from '../../../src/protocol/rest/invalid-fields.ts';
import type { RestCaller, RestInput } from '../../../src/protocol/rest/route.ts';
import { endpoints } from '../../../src/rest-api/registry.ts';
import { routeOf } from '../../../src/rest-api/routes.ts';
import type { Services } from '../../../src/rest-api/services.ts';
import { readJsonBody, readQuery } from '../../../src/servers/rest/decode.ts';
import { programs } from '../../../src/solana/programs.ts';
import { acceptedLater, jsonIn, selecting, type Target } from '../engine/target.ts';
import { accountStateTarget, nftTarget } from './accounts.ts';
import { decodeTransactionTarget } from './transactions.ts';

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';

const WIRE = Buffer.from(decodeTransactionTarget.seeds[0] ?? []).toString('base64');

const services = { settings: { historyDays: 3, domainSuffix: '.sol' } } as Record<string, unknown>;
const unavailable = (): never => {
  throw new Failure('UPSTREAM_UNAVAILABLE');
};

/** All services are unavailable: only the fields are tested. */
for (const name of ['offChain', 'das', 'tokenList', 'files', 'semiWallets', 'confirmations'])
  services[name] = new Proxy({}, { get: () => unavailable });

const caller: RestCaller = {
  ownerId: 'family',
  signal: new AbortController().signal,
  request: async () => unavailable(),
};
const routes = endpoints.map((endpoint) => routeOf(endpoint, services as unknown as Services));

export const everyField = {
  ...{ network: 'devnet', wallet: KEY, wallet_address: KEY, address: KEY, account: KEY, token_address: KEY },
  ...{ token_addresses: [KEY], transaction_signatures: [SIGNATURE], txn_signature: SIGNATURE, tx_num: 5 },
  ...{ encoded_transactions: [WIRE], encoded_transaction: WIRE, from_address: KEY, to_address: KEY },
  ...{ commitment: 'confirmed', page: 1, size: 10, password: 'secret words', domain: 'a.sol', amount: 0.5 },
  ...{ name: 'n', symbol: 's', description: 'd', image: 'ipfs://a', external_url: 'https://a.example' },
  ...{ attributes: { energy: { gte: '1' } }, royalty: { lt: 5 }, share: 100, creators: [KEY] },
};
const query = Object.entries(everyField)
  .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
  .join('&');

function inputOf(bytes: Uint8Array): RestInput {
  const rest = Buffer.from(bytes.subarray(2));
  const isQuery = (bytes[1] ?? 0) % 2 === 0;
  return {
    query: readQuery(isQuery ? rest.toString('latin1') : ''),
    body: isQuery ? undefined : readJsonBody(rest),
    file: null,
  };
}

const isAnswerable = ({ problems }: InvalidFields): boolean =>
  problems.length > 0 && problems.length <= 20 && problems.every(({ message }) => message !== '');

export const restRequestTarget: Target = {
  /** The first byte selects the endpoint, the second a query or a body. */
  seeds: routes.flatMap((_, at) => [
    selecting(at, `\0${query}`),
    selecting(at, `\x01${JSON.stringify(everyField)}`),
  ]),
  /** An endpoint accepts the fields or lists the invalid ones. @returns whether it accepted them. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const route = routes[(bytes[0] ?? 0) % routes.length];
    try {
      await route?.handle(inputOf(bytes), caller);
      return true;
    } catch (error) {
      if (error instanceof InvalidFields) {
        if (!isAnswerable(error)) throw new Error('refused without a message');
        return false;
      }
      if (error instanceof Failure) return true;
      throw error;
    }
  },
};

const CONTEXT = { slot: 300 };

const accountOf = (owner: string, data: Uint8Array): JsonValue => ({
  ...{ lamports: 2_039_280, owner, executable: false, rentEpoch: 0, space: data.length },
  data: [Buffer.from(data).toString('base64'), 'base64'],
});
const keyed = (owner: string, data: Uint8Array): JsonValue => ({
  pubkey: KEY,
  account: accountOf(owner, data),
});
const [mint, token] = [accountStateTarget.seeds[0] as Uint8Array, accountStateTarget.seeds[1] as Uint8Array];

const instruction = {
  ...{ program: 'system', programId: programs.system, stackHeight: 1 },
  parsed: {
    type: 'transfer',
    info: { source: KEY, destination: KEY, lamports: 5 },
  },
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

/** Valid results by method, of a DAS server (`das`) and of a URI (`json`). */
const answers: Record<string, JsonValue> = {
  getBalance: { context: CONTEXT, value: 5 },
  getAccountInfo: { context: CONTEXT, value: accountOf(programs.token, mint) },
  getMultipleAccounts: { context: CONTEXT, value: [accountOf(programs.token, mint)] },
  getTokenAccountsByOwner: { context: CONTEXT, value: [keyed(programs.token, token)] },
  getProgramAccounts: [keyed(programs.stake, accountStateTarget.seeds[6] as Uint8Array)],
  getSignaturesForAddress: [
    { signature: everyField.txn_signature, slot: 300, err: null, memo: null, blockTime: 1_700_000_000 },
  ],
  getTransaction: transaction,
  getEpochInfo: { absoluteSlot: 300, blockHeight: 290, epoch: 2, slotIndex: 44, slotsInEpoch: 128 },
  getLatestBlockhash: {
    context: CONTEXT,
    value: { blockhash: KEY, lastValidBlockHeight: 400 },
  },
  getMinimumBalanceForRentExemption: 890_880,
  sendTransaction: everyField.txn_signature,
  getSlot: 300,
};
const metadata = {
  ...answers,
  getMultipleAccounts: { context: CONTEXT, value: [accountOf(metadataProgram, nftTarget.seeds[0]!)] },
};
const names = { ...answers, getProgramAccounts: [keyed(snsPrograms.names, new Uint8Array(100).fill(7))] };
const das = JSON.parse(Buffer.from(nftTarget.seeds[7]!).toString()) as JsonValue;
const offChain = JSON.parse(Buffer.from(nftTarget.seeds[6]!).toString()) as JsonValue;

const variants = [
  metadata,
  names,
  { ...answers, das: { items: [das], total: 1 }, json: offChain },
  { ...answers, das },
];
const absent = new Proxy({}, { get: () => unavailable });
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

/** An endpoint with more calls is in an endless loop. */
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
      if (++calls > CALLS_MAX) throw new Error(`endless calls of ${method}`);
      return reported[method] ?? null;
    },
  };
}

export const endpointAnswersTarget: Target = {
  /** Results by method; the first byte selects the endpoint. */
  seeds: endpoints.flatMap((_, at) =>
    [answers, variants[at % variants.length] ?? answers].map((reported) =>
      selecting(at, writeJson(reported)),
    ),
  ),
  /** The response of an endpoint fits its schema, or is a failure. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const endpoint = endpoints[(bytes[0] ?? 0) % endpoints.length]!;
    const reported = jsonIn(bytes.subarray(1));
    if (reported === undefined || reported === null) return false;
    if (typeof reported !== 'object' || Array.isArray(reported)) return false;
    return acceptedLater(async () => {
      const { result } = await routeOf(endpoint, servicesOf(reported)).handle(input, callerOf(reported));
      const read = endpoint.result.safeParse(parseJson(writeJson(result as WritableJson)));
      if (!read.success) throw new Error(`${endpoint.name} does not fit its schema: ${read.error.message}`);
    }, Failure);
  },
};
