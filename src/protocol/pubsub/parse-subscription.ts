import { type JsonValue, parseJson } from '../../base/json.ts';
import { type Address, parseAddress } from '../../solana/address.ts';
import { transactionDetails } from '../../solana/encoding/encodings.ts';
import { parseSignature, type Signature } from '../../solana/signature.ts';
import { type AccountFilter, readFilters, verifyFilters } from '../rpc/account-filter.ts';
import {
  accountConfigOf,
  at,
  configObject,
  exactly,
  lenientCommitment,
  noParameters,
  positional,
  readAccountConfig,
  requireConfirmed,
} from '../rpc/parameters.ts';
import {
  type JsonObject,
  member,
  optionalMember,
  payloadOf,
  readBoolean,
  readObject,
  readString,
  readStrings,
  readTagged,
  readU64,
  readVariant,
  unknownField,
  withoutPayload,
} from '../rpc/serde.ts';
import { readEncoding, readMaxVersion } from '../rpc/transaction-encoding.ts';
import { invalidParams, RpcError } from '../rpc-error.ts';
import {
  type Subscription,
  type SubscriptionKind,
  type SubscriptionOf,
  type TransactionFilter,
  type TransactionView,
  tokenAccountModes,
} from '../subscriptions.ts';

/** PubSub has its own error texts for invalid addresses and signatures. Source: Agave rpc/src/rpc_pubsub.rs `param`. */
const invalidAddressOrSignature = (thing: string) =>
  invalidParams(`Invalid Request: Invalid ${thing} provided`);

function readAddress(text: string, thing = 'pubkey'): Address {
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw invalidAddressOrSignature(thing);
  return parsed.address;
}

function readSignature(text: string): Signature {
  const parsed = parseSignature(text);
  if ('fault' in parsed) throw invalidAddressOrSignature('signature');
  return parsed.signature;
}

const transactionViewOf = (config: JsonObject): TransactionView => ({
  encoding: readEncoding(member(config, 'encoding')) ?? 'base64',
  details:
    optionalMember(config, 'transactionDetails', (name) => readVariant(name, transactionDetails)) ?? 'full',
  rewards: optionalMember(config, 'showRewards', readBoolean) ?? false,
  maxVersion: readMaxVersion(config) ?? undefined,
});

/** Params: `pubkey, {encoding, commitment}`. `dataSlice` and `minContextSlot` are validated but ignored. */
function parseAccount(params: JsonValue | undefined): SubscriptionOf<'account'> {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const { commitment, encoding } = readAccountConfig(list[1]);
  return { kind: 'account', address: readAddress(text), commitment, encoding: encoding ?? 'binary' };
}

/** @returns the address that transactions must mention; null for all transactions. */
function readBlockFilter(value: JsonValue): string | null {
  const tagged = readTagged(value, ['all', 'mentionsAccountOrProgram']);
  if (tagged.variant === 'mentionsAccountOrProgram') return payloadOf(tagged, readString);
  withoutPayload(tagged);
  return null;
}

/** Params: `"all" | {mentionsAccountOrProgram}, {commitment, …}`. The commitment is verified before the address. */
function parseBlock(params: JsonValue | undefined): SubscriptionOf<'block'> {
  const list = positional(params, 1, 2);
  const mentioned = at(list, 0, readBlockFilter);
  const config = configObject(list[1], 'RpcBlockSubscribeConfig');
  const view = transactionViewOf(config);
  const commitment = lenientCommitment(config);
  requireConfirmed(commitment);
  const mentions = mentioned === null ? null : readAddress(mentioned, 'mentions_account_or_program');
  return { kind: 'block', mentions, commitment, ...view };
}

function readLogsFilter(value: JsonValue): 'all' | 'allWithVotes' | readonly string[] {
  const tagged = readTagged(value, ['all', 'allWithVotes', 'mentions']);
  if (tagged.variant === 'mentions') return payloadOf(tagged, readStrings);
  withoutPayload(tagged);
  return tagged.variant;
}

function onlyMention(texts: readonly string[]) {
  const [text, ...others] = texts;
  if (text === undefined || others.length > 0) {
    throw invalidParams('Invalid Request: Only 1 address supported');
  }
  return { mentions: readAddress(text, 'mentions') };
}

/** Params: `"all" | "allWithVotes" | {mentions: [pubkey]}, {commitment}`. */
function parseLogs(params: JsonValue | undefined): SubscriptionOf<'logs'> {
  const list = positional(params, 1, 2);
  const filter = at(list, 0, readLogsFilter);
  const commitment = lenientCommitment(configObject(list[1], 'RpcTransactionLogsConfig'));
  return { kind: 'logs', of: typeof filter === 'string' ? filter : onlyMention(filter), commitment };
}

/** PubSub puts the text of the error code before that of the error. Source: Agave rpc/src/rpc_pubsub.rs. */
function verifyProgramFilters(filters: Parameters<typeof verifyFilters>[0]): AccountFilter[] {
  try {
    return verifyFilters(filters);
  } catch (thrown) {
    throw thrown instanceof RpcError ? invalidParams(`Invalid params: ${thrown.message}`) : thrown;
  }
}

/** Uses only `commitment`, `encoding` and `filters`. Unlike other methods, verifies filters before the address. */
function parseProgram(params: JsonValue | undefined): SubscriptionOf<'program'> {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = configObject(list[1], 'RpcProgramAccountsConfig');
  const unverified = optionalMember(config, 'filters', readFilters) ?? [];
  optionalMember(config, 'sortResults', readBoolean);
  optionalMember(config, 'withContext', readBoolean);
  const { commitment, encoding } = accountConfigOf(config);
  const filters = verifyProgramFilters(unverified);
  const program = readAddress(text);
  return { kind: 'program', program, commitment, encoding: encoding ?? 'binary', filters };
}

/** Params: `signature, {commitment, enableReceivedNotification}`. */
function parseSignatureParams(params: JsonValue | undefined): SubscriptionOf<'signature'> {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = configObject(list[1], 'RpcSignatureSubscribeConfig');
  const received = optionalMember(config, 'enableReceivedNotification', readBoolean) ?? false;
  return {
    kind: 'signature',
    signature: readSignature(text),
    commitment: lenientCommitment(config),
    received,
  };
}

/**
 * transactionSubscribe in its two public dialects. Sources: the provider's page
 * enhanced-websockets/transaction-subscribe (flat), richat `pubsub/solana.rs` (nested), solana-json-rpc.md §3.3.
 */

export const FILTER_ADDRESSES_MAX = 50_000;

type AddressList = Readonly<{ name: string; texts: readonly string[] }>;

/** The addresses and the signature are verified only after the config has been read. */
type UnverifiedFilter = Pick<TransactionFilter, 'vote' | 'failed' | 'tokenAccounts'> &
  Readonly<{ signature: string | null; include: AddressList; exclude: AddressList; required: AddressList }>;

const commonMembers = (filter: JsonObject) => ({
  vote: optionalMember(filter, 'vote', readBoolean),
  failed: optionalMember(filter, 'failed', readBoolean),
  signature: optionalMember(filter, 'signature', readString),
});

/** Ignoring a misspelled member could leave a filter that matches everything. @throws RpcError -32602 */
function rejectUnknown(filter: JsonObject, allowed: readonly string[]): void {
  const unknown = Object.keys(filter).find((name) => !allowed.includes(name));
  if (unknown === undefined) return;
  const names = allowed.map((name) => `\`${name}\``).join(', ');
  throw unknownField(unknown, `one of ${names}`);
}

const COMMON_MEMBERS: readonly string[] = ['vote', 'failed', 'signature'];
const FLAT_MEMBERS: readonly string[] = [
  ...COMMON_MEMBERS,
  ...['accountInclude', 'accountExclude', 'accountRequired', 'tokenAccounts'],
];
const NESTED_MEMBERS: readonly string[] = [...COMMON_MEMBERS, 'accounts'];

function readFlat(filter: JsonObject): UnverifiedFilter {
  rejectUnknown(filter, FLAT_MEMBERS);
  const list = (name: string): AddressList => ({
    name,
    texts: optionalMember(filter, name, readStrings) ?? [],
  });
  return {
    ...commonMembers(filter),
    include: list('accountInclude'),
    exclude: list('accountExclude'),
    required: list('accountRequired'),
    tokenAccounts:
      optionalMember(filter, 'tokenAccounts', (value) => readVariant(value, tokenAccountModes)) ?? 'none',
  };
}

function readNested(filter: JsonObject, given: JsonValue): UnverifiedFilter {
  rejectUnknown(filter, NESTED_MEMBERS);
  const accounts = readObject(given, 'TransactionSubscribeFilterAccounts');
  const list = (name: string): AddressList => {
    const value = member(accounts, name);
    return { name: `accounts.${name}`, texts: value === undefined ? [] : readStrings(value) };
  };
  return {
    ...commonMembers(filter),
    include: list('include'),
    exclude: list('exclude'),
    required: list('required'),
    tokenAccounts: 'none',
  };
}

function verifyList({ name, texts }: AddressList): Address[] {
  if (texts.length > FILTER_ADDRESSES_MAX) {
    throw invalidParams(`Invalid Request: Too many addresses in ${name}; max ${FILTER_ADDRESSES_MAX}`);
  }
  return texts.map((text) => readAddress(text));
}

const verifyFilter = (filter: UnverifiedFilter): TransactionFilter => ({
  ...filter,
  signature: filter.signature === null ? null : readSignature(filter.signature),
  include: verifyList(filter.include),
  exclude: verifyList(filter.exclude),
  required: verifyList(filter.required),
});

type ReadTransactionFilter = Readonly<{ dialect: 'helius' | 'whirligig'; unverified: UnverifiedFilter }>;

/** The nested dialect has `accounts`; a filter without it is read as the flat dialect. */
function readTransactionFilter(value: JsonValue): ReadTransactionFilter {
  const filter = readObject(value, 'TransactionSubscribeFilter');
  const accounts = member(filter, 'accounts');
  return accounts === undefined
    ? { dialect: 'helius', unverified: readFlat(filter) }
    : { dialect: 'whirligig', unverified: readNested(filter, accounts) };
}

/** The flat dialect has no default for the maximum version, which `full` and `accounts` require. */
function requireMaxVersion(view: TransactionView): void {
  if (view.maxVersion !== undefined || view.details === 'signatures' || view.details === 'none') return;
  throw invalidParams(
    'Invalid Request: maxSupportedTransactionVersion is required for transactionDetails "full" and "accounts"',
  );
}

function parseTransaction(params: JsonValue | undefined): SubscriptionOf<'transaction'> {
  const list = positional(params, 1, 2);
  const { dialect, unverified } = at(list, 0, readTransactionFilter);
  const config = configObject(list[1], 'TransactionSubscribeOptions');
  const view = transactionViewOf(config);
  const filter = verifyFilter(unverified);
  if (dialect === 'helius') requireMaxVersion(view);
  return { kind: 'transaction', dialect, filter, commitment: lenientCommitment(config), ...view };
}

const withoutParams =
  <Kind extends 'root' | 'slot' | 'slotsUpdates' | 'vote'>(kind: Kind) =>
  (params: JsonValue | undefined): Subscription => {
    noParameters(params);
    return { kind };
  };

const parsers: { readonly [Kind in SubscriptionKind]: (params: JsonValue | undefined) => Subscription } = {
  account: parseAccount,
  block: parseBlock,
  logs: parseLogs,
  program: parseProgram,
  root: withoutParams('root'),
  signature: parseSignatureParams,
  slot: withoutParams('slot'),
  slotsUpdates: withoutParams('slotsUpdates'),
  transaction: parseTransaction,
  vote: withoutParams('vote'),
};

/** Parses params and fills in defaults. @throws RpcError -32602 with Agave's text. */
export const parseSubscription = <Kind extends SubscriptionKind>(
  kind: Kind,
  params: JsonValue | undefined,
): SubscriptionOf<Kind> => parsers[kind](params) as SubscriptionOf<Kind>;

/** Enough for any subscription id and some whitespace around it. */
const PARAMS_MAX_BYTES = 100;

/** @returns the subscription id, a u64. */
export const parseUnsubscribe = (params: JsonValue | undefined): bigint => at(exactly(params, 1), 0, readU64);

export function parseRawUnsubscribe(params: Buffer | null): bigint {
  if (params === null) return parseUnsubscribe(undefined);
  if (params.length > PARAMS_MAX_BYTES) throw invalidSubscriptionId();
  return parseUnsubscribe(parseJson(params.toString('utf8')));
}

/** Source: Agave rpc_pubsub.rs. */
export const invalidSubscriptionId = () => invalidParams('Invalid subscription id.');
