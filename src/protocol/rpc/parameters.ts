import type { JsonValue } from '../../base/json.ts';
import { type Address, parseAddress } from '../../solana/address.ts';
import { type Blockhash, parseBlockhash } from '../../solana/blockhash.ts';
import { type AccountEncoding, accountEncodings, type DataSlice } from '../../solana/encoding/encodings.ts';
import { parseSignature, type Signature } from '../../solana/signature.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { invalidParams, RpcError } from '../rpc-error.ts';
import {
  debugParams,
  type JsonObject,
  member,
  optional,
  optionalMember,
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
 * Agave's parameter rules and error messages. Parsers first take the positional values, then check their types
 * (`serde.ts`), then parse strings such as addresses. As in Agave, an invalid config is therefore reported before an
 * invalid address. Config members are read in alphabetical order, as in serde_json. Sources: jsonrpc_core 18
 * `params.rs`, jsonrpc_derive `to_delegate.rs`, Agave rpc/src/rpc.rs; solana-json-rpc.md §1.0 and §2.3.
 */

/** Source: Agave `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`. */
export const STATUSES_MAX = 256;

/** @returns an empty list if absent or null; null for an object. The envelope decoder rejects scalars. */
function listOf(params: JsonValue | undefined): readonly JsonValue[] | null {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  if (typeof params === 'object') return null;
  throw new RpcError(-32600, 'Invalid request');
}

/** For methods with optional parameters. @throws RpcError -32602 */
export function positional(params: JsonValue | undefined, min: number, max: number): readonly JsonValue[] {
  const list = listOf(params);
  if (list === null) throw invalidParams('`params` should be an array');
  if (list.length < min) throw invalidParams(`\`params\` should have at least ${min} argument(s)`);
  if (list.length > max) {
    throw invalidParams(
      `Invalid parameters: Expected from ${min} to ${max} parameters.`,
      `"Got: ${list.length}"`,
    );
  }
  return list;
}

/**
 * For methods without optional parameters.
 * @param read - checks the items of a list that is too short, because serde reads them first.
 */
export function exactly(
  params: JsonValue | undefined,
  size: number,
  read: (item: JsonValue) => unknown = () => {},
): readonly JsonValue[] {
  const list = params === undefined || params === null ? null : listOf(params);
  if (list === null) {
    throw serdeFault(`invalid type: ${unexpected(params ?? null)}, expected a tuple of size ${size}`);
  }
  if (list.length < size) {
    for (const item of list) read(item);
    throw serdeFault(`invalid length ${list.length}, expected a tuple of size ${size}`);
  }
  if (list.length > size) {
    throw serdeFault(`invalid length ${list.length}, expected fewer elements in array`);
  }
  return list;
}

export function noParameters(params: JsonValue | undefined): void {
  const list = listOf(params);
  if (list !== null && list.length === 0) return;
  throw invalidParams(
    'Invalid parameters: No parameters were expected',
    debugParams(list ?? (params as JsonObject)),
  );
}

/** Reads a parameter. `positional` or `exactly` has already checked that it is present. */
export function at<T>(list: readonly JsonValue[], index: number, read: (value: JsonValue) => T): T {
  return read(list[index] ?? null);
}

/** @throws RpcError -32602 "Invalid param: Invalid" (not base58) or "Invalid param: WrongSize". */
function valid<Parsed extends object>(parsed: Parsed): Exclude<Parsed, { fault: string }> {
  if ('fault' in parsed) throw invalidParams(`Invalid param: ${parsed.fault}`);
  return parsed as Exclude<Parsed, { fault: string }>;
}

export const readAddress = (text: string): Address => valid(parseAddress(text)).address;

export const readSignature = (text: string): Signature => valid(parseSignature(text)).signature;

export const readBlockhash = (text: string): Blockhash => valid(parseBlockhash(text)).blockhash;

export function limitInputs(inputs: readonly unknown[], max: number): void {
  if (inputs.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
}

/** Treats unknown commitments as `finalized`: Agave flattens an `Option<CommitmentConfig>`, which ignores errors. */
export function lenientCommitment(config: JsonObject): Commitment {
  const value = member(config, 'commitment');
  return commitments.find((name) => name === value) ?? 'finalized';
}

export function readMinContextSlot(config: JsonObject): Slot | null {
  const value = optionalMember(config, 'minContextSlot', readU64);
  return value === null ? null : slot(value);
}

export type ContextConfig = Readonly<{ commitment: Commitment; minContextSlot: Slot | null }>;

/** @param struct - Agave's name of the struct, for errors. */
export const configObject = (value: JsonValue | undefined, struct: string): JsonObject =>
  optional(value, (config) => readObject(config, struct)) ?? {};

export const contextOf = (config: JsonObject): ContextConfig => ({
  commitment: lenientCommitment(config),
  minContextSlot: readMinContextSlot(config),
});

export const readContextConfig = (value: JsonValue | undefined): ContextConfig =>
  contextOf(configObject(value, 'RpcContextConfig'));

export const readOnlyContextConfig = (params: JsonValue | undefined): ContextConfig =>
  readContextConfig(positional(params, 0, 1)[0]);

/** @throws RpcError -32602 for `{}` and for unknown names. */
export function readStrictCommitment(value: JsonValue | undefined): Commitment {
  const read = (config: JsonValue): Commitment =>
    required(readPlainStruct(config, 'CommitmentConfig', ['commitment']), 'commitment', (name) =>
      readVariant(name, commitments),
    );
  return optional(value, read) ?? 'finalized';
}

/** @throws RpcError -32602 for `processed`. */
export function requireConfirmed(
  commitment: Commitment,
): asserts commitment is Exclude<Commitment, 'processed'> {
  if (commitment === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`');
  }
}

/** Clamps to 2^53 - 1, which exceeds the size of any account. */
const readCount = (value: JsonValue): number => {
  const count = readUsize(value);
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
};

export function readDataSlice(value: JsonValue): DataSlice {
  const slice = readPlainStruct(value, 'UiDataSliceConfig', ['offset', 'length']);
  return { offset: required(slice, 'offset', readCount), length: required(slice, 'length', readCount) };
}

/** The default of `encoding` depends on the method. */
export type AccountConfig = ContextConfig &
  Readonly<{ encoding: AccountEncoding | null; dataSlice: DataSlice | null }>;

export const accountConfigOf = (config: JsonObject): AccountConfig => ({
  dataSlice: optionalMember(config, 'dataSlice', readDataSlice),
  encoding: optionalMember(config, 'encoding', (value) => readVariant(value, accountEncodings)),
  ...contextOf(config),
});

export const readAccountConfig = (value: JsonValue | undefined): AccountConfig =>
  accountConfigOf(configObject(value, 'RpcAccountInfoConfig'));
