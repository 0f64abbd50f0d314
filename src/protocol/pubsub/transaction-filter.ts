import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import {
  type JsonObject,
  member,
  optional,
  type Read,
  readBoolean,
  readObject,
  readString,
  readStrings,
  readVariant,
  unknownField,
} from '../rpc/serde.ts';
import { invalidParams } from '../rpc-error.ts';
import { type TransactionFilter, tokenAccountModes } from '../subscriptions.ts';
import { readSubscribedAddress, readSubscribedSignature } from './pubsub-keys.ts';

/**
 * The first parameter of transactionSubscribe in its two public dialects. Sources: the provider's page
 * enhanced-websockets/transaction-subscribe for the flat one, richat `pubsub/solana.rs` for the nested one;
 * reference solana-json-rpc.md §3.3.
 */

/** Addresses in each of the lists. */
export const FILTER_ADDRESSES_MAX = 50_000;

/** Which list a fault is in, and its texts. */
type List = Readonly<{ name: string; texts: readonly string[] }>;

/** A filter whose shape has been read, but not yet the texts in it. */
type UnverifiedFilter = Readonly<{
  vote: boolean | null;
  failed: boolean | null;
  signature: string | null;
  include: List;
  exclude: List;
  required: List;
  tokenAccounts: TransactionFilter['tokenAccounts'];
}>;

const memberOf = <T>(object: JsonObject, name: string, read: Read<T>): T | null =>
  optional(member(object, name), read);

/** The members that both dialects have. */
const commonMembers = (filter: JsonObject) => ({
  vote: memberOf(filter, 'vote', readBoolean),
  failed: memberOf(filter, 'failed', readBoolean),
  signature: memberOf(filter, 'signature', readString),
});

/** @throws RpcError -32602: a mistyped member would be a filter that lets everything through. */
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

/** `{vote, failed, signature, accountInclude, accountExclude, accountRequired, tokenAccounts}`; no other member. */
function readFlat(filter: JsonObject): UnverifiedFilter {
  rejectUnknown(filter, FLAT_MEMBERS);
  const list = (name: string): List => ({ name, texts: memberOf(filter, name, readStrings) ?? [] });
  return {
    ...commonMembers(filter),
    include: list('accountInclude'),
    exclude: list('accountExclude'),
    required: list('accountRequired'),
    tokenAccounts:
      memberOf(filter, 'tokenAccounts', (value) => readVariant(value, tokenAccountModes)) ?? 'none',
  };
}

/** `{vote, failed, signature, accounts: {include, exclude, required}}`; no other member. */
function readNested(filter: JsonObject, given: JsonValue): UnverifiedFilter {
  rejectUnknown(filter, NESTED_MEMBERS);
  const accounts = readObject(given, 'TransactionSubscribeFilterAccounts');
  const list = (name: string): List => {
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

function verifyList({ name, texts }: List): Address[] {
  if (texts.length > FILTER_ADDRESSES_MAX) {
    throw invalidParams(`Invalid Request: Too many addresses in ${name}; max ${FILTER_ADDRESSES_MAX}`);
  }
  return texts.map((text) => readSubscribedAddress(text));
}

const verify = (filter: UnverifiedFilter): TransactionFilter => ({
  vote: filter.vote,
  failed: filter.failed,
  signature: filter.signature === null ? null : readSubscribedSignature(filter.signature),
  include: verifyList(filter.include),
  exclude: verifyList(filter.exclude),
  required: verifyList(filter.required),
  tokenAccounts: filter.tokenAccounts,
});

/** A filter whose texts are still to be verified, and the dialect that its shape tells. */
export type ReadFilter = Readonly<{
  dialect: 'helius' | 'whirligig';
  /** @throws RpcError -32602 for a bad or a superfluous address and for a bad signature. */
  verify(): TransactionFilter;
}>;

/** The nested dialect is the one with `accounts`; a filter that names no account at all is of the flat one. */
export function readTransactionFilter(value: JsonValue): ReadFilter {
  const filter = readObject(value, 'TransactionSubscribeFilter');
  const accounts = member(filter, 'accounts');
  const read = accounts === undefined ? readFlat(filter) : readNested(filter, accounts);
  return { dialect: accounts === undefined ? 'helius' : 'whirligig', verify: () => verify(read) };
}
