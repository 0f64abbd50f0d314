import type { JsonValue } from '../../base/json.ts';
import { type Address, parseAddress } from '../../solana/address.ts';
import { type Blockhash, parseBlockhash } from '../../solana/blockhash.ts';
import { type AccountEncoding, accountEncodings, type DataSlice } from '../../solana/encoding/ui-account.ts';
import { parseSignature, type Signature } from '../../solana/signature.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { invalidParams, RpcError } from '../rpc-error.ts';
import {
  debugParams,
  type JsonObject,
  member,
  optional,
  readObject,
  readPlainStruct,
  readU64,
  readUsize,
  readVariant,
  required,
  serdeFault,
  unexpected,
} from './serde.ts';

/**
 * Reading the parameters of a JSON-RPC method with Agave's rules and words. A method's parser first takes the
 * positional values (`positional`, `exactly` or `noParameters`), then reads every value (`serde.ts`), and only
 * then looks at what the texts mean (`readAddress` …): a bad config wins over a bad address, as in Agave.
 * The members of a config are read in the order of their names, as serde_json keeps them: of several wrong ones
 * the first is named.
 * Sources: jsonrpc_core 18 `params.rs`, jsonrpc_derive `to_delegate.rs`, Agave rpc/src/rpc.rs;
 * reference §1.0 and §2.3.
 */

/** Source: Agave `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`. */
export const STATUSES_MAX = 256;

function isObject(params: JsonValue | undefined): params is { [name: string]: JsonValue } {
  return typeof params === 'object' && params !== null && !Array.isArray(params);
}

/** The array in `params`; empty for an absent or null one; null for an object. Scalars are no valid request. */
function listOf(params: JsonValue | undefined): readonly JsonValue[] | null {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  if (isObject(params)) return null;
  throw new RpcError(-32600, 'Invalid request');
}

/**
 * The positional parameters of a method that has optional ones: at least `least`, at most `most`.
 * Those left out are undefined in the result.
 * @throws RpcError -32602 for an object, and for too few or too many.
 */
export function positional(params: JsonValue | undefined, least: number, most: number): readonly JsonValue[] {
  const list = listOf(params);
  if (list === null) throw invalidParams('`params` should be an array');
  if (list.length < least) throw invalidParams(`\`params\` should have at least ${least} argument(s)`);
  if (list.length > most) {
    throw invalidParams(
      `Invalid parameters: Expected from ${least} to ${most} parameters.`,
      `"Got: ${list.length}"`,
    );
  }
  return list;
}

/** The parameters of a method all of whose parameters are required; it has at least one. */
export function exactly(params: JsonValue | undefined, size: number): readonly JsonValue[] {
  const list = params === undefined || params === null ? null : listOf(params);
  if (list === null) {
    throw serdeFault(`invalid type: ${unexpected(params ?? null)}, expected a tuple of size ${size}`);
  }
  if (list.length < size) {
    throw serdeFault(`invalid length ${list.length}, expected a tuple of size ${size}`);
  }
  if (list.length > size) {
    throw serdeFault(`invalid length ${list.length}, expected fewer elements in array`);
  }
  return list;
}

/** Refuses parameters to a method that has none. */
export function noParameters(params: JsonValue | undefined): void {
  const list = listOf(params);
  if (list !== null && list.length === 0) return;
  throw invalidParams(
    'Invalid parameters: No parameters were expected',
    debugParams(list ?? (params as JsonObject)),
  );
}

/** A required positional value that `positional` or `exactly` has already counted. */
export function at<T>(list: readonly JsonValue[], index: number, read: (value: JsonValue) => T): T {
  return read(list[index] ?? null);
}

/** @throws RpcError -32602 "Invalid param: Invalid" (not base58) or "Invalid param: WrongSize". */
export function readAddress(text: string): Address {
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw invalidParams(`Invalid param: ${parsed.fault}`);
  return parsed.address;
}

/** @throws RpcError -32602 "Invalid param: Invalid" (not base58) or "Invalid param: WrongSize". */
export function readSignature(text: string): Signature {
  const parsed = parseSignature(text);
  if ('fault' in parsed) throw invalidParams(`Invalid param: ${parsed.fault}`);
  return parsed.signature;
}

/** @throws RpcError -32602 "Invalid param: Invalid" (not base58) or "Invalid param: WrongSize". */
export function readBlockhash(text: string): Blockhash {
  const parsed = parseBlockhash(text);
  if ('fault' in parsed) throw invalidParams(`Invalid param: ${parsed.fault}`);
  return parsed.blockhash;
}

/** @throws RpcError -32602 "Too many inputs provided; max N". */
export function limitInputs(inputs: readonly unknown[], max: number): void {
  if (inputs.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
}

/**
 * The commitment of a lenient config: anything that is not one of the three names counts as absent, and absent
 * is `finalized`. Agave flattens an `Option<CommitmentConfig>`, which swallows its faults.
 */
export function lenientCommitment(config: JsonObject): Commitment {
  const value = member(config, 'commitment');
  return commitments.find((name) => name === value) ?? 'finalized';
}

/** The lowest slot the caller accepts; null for any. */
export function readMinContextSlot(config: JsonObject): Slot | null {
  const value = optional(member(config, 'minContextSlot'), readU64);
  return value === null ? null : slot(value);
}

/** Where a method reads: which state, and how recent at least. */
export type ContextConfig = Readonly<{ commitment: Commitment; minContextSlot: Slot | null }>;

/** The object in an optional parameter, empty when it is left out. `struct` is Agave's name for errors. */
export const configObject = (value: JsonValue | undefined, struct: string): JsonObject =>
  optional(value, (config) => readObject(config, struct)) ?? {};

/** The two members of every lenient config. */
export const contextOf = (config: JsonObject): ContextConfig => ({
  commitment: lenientCommitment(config),
  minContextSlot: readMinContextSlot(config),
});

/** An optional lenient config of `{commitment, minContextSlot}`. */
export const readContextConfig = (value: JsonValue | undefined): ContextConfig =>
  contextOf(configObject(value, 'RpcContextConfig'));

/** Params of a method that takes only `{commitment, minContextSlot}`. */
export const readOnlyContextConfig = (params: JsonValue | undefined): ContextConfig =>
  readContextConfig(positional(params, 0, 1)[0]);

/**
 * An optional strict config of `{commitment}` alone; `finalized` when it is left out.
 * @throws RpcError -32602 for `{}` and for unknown names.
 */
export function readStrictCommitment(value: JsonValue | undefined): Commitment {
  const read = (config: JsonValue): Commitment =>
    required(readPlainStruct(config, 'CommitmentConfig', ['commitment']), 'commitment', (name) =>
      readVariant(name, commitments),
    );
  return optional(value, read) ?? 'finalized';
}

/** @throws RpcError -32602 when the commitment is `processed`: history has none. */
export function requireConfirmed(
  commitment: Commitment,
): asserts commitment is Exclude<Commitment, 'processed'> {
  if (commitment === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`');
  }
}

/** usize of the wire as a number; what is past 2^53 is past the end of any account just the same. */
const readCount = (value: JsonValue): number => {
  const count = readUsize(value);
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
};

/** A `dataSlice`. */
export function readDataSlice(value: JsonValue): DataSlice {
  const slice = readPlainStruct(value, 'UiDataSliceConfig', ['offset', 'length']);
  return { offset: required(slice, 'offset', readCount), length: required(slice, 'length', readCount) };
}

/** What methods that answer with accounts take; an absent encoding is null, its default is the method's. */
export type AccountConfig = ContextConfig &
  Readonly<{ encoding: AccountEncoding | null; dataSlice: DataSlice | null }>;

/** The members of an account config within a larger one. */
export const accountConfigOf = (config: JsonObject): AccountConfig => ({
  dataSlice: optional(member(config, 'dataSlice'), readDataSlice),
  encoding: optional(member(config, 'encoding'), (value) => readVariant(value, accountEncodings)),
  ...contextOf(config),
});

/** An optional config of `{encoding, dataSlice, commitment, minContextSlot}`. */
export const readAccountConfig = (value: JsonValue | undefined): AccountConfig =>
  accountConfigOf(configObject(value, 'RpcAccountInfoConfig'));
