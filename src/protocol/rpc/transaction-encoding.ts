import type { JsonValue } from '../../base/json.ts';
import { type TransactionEncoding, transactionEncodings } from '../../solana/encoding/encodings.ts';
import { invalidParams, RpcError } from '../rpc-error.ts';
import { type JsonObject, optional, optionalMember, readU8, readVariant, serdeFault } from './serde.ts';

/** Encodings of transaction bytes in requests. */
export type BinaryEncoding = 'base58' | 'base64';

export const readEncoding = (value: JsonValue | undefined): TransactionEncoding | null =>
  optional(value, (name) => readVariant(name, transactionEncodings));

/** Encoding of a transaction in a request; base58 by default. @throws RpcError -32602 for response-only encodings. */
export function binaryEncoding(encoding: TransactionEncoding | null): BinaryEncoding {
  switch (encoding) {
    case null:
    case 'binary':
    case 'base58':
      return 'base58';
    case 'base64':
      return 'base64';
    default:
      throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`);
  }
}

/** null: legacy transactions only, without `version` in the response. */
export const readMaxVersion = (config: JsonObject): number | null =>
  optionalMember(config, 'maxSupportedTransactionVersion', readU8);

/** Old clients send a bare encoding name instead of a config. Source: rpc-client-types `RpcEncodingConfigWrapper`. */
export function readEncodingConfig<T>(value: JsonValue | undefined, read: (config: JsonObject) => T): T {
  try {
    if (value === undefined || value === null) return read({});
    if (typeof value === 'string') return read({ encoding: readEncoding(value) });
    if (typeof value === 'object' && !Array.isArray(value)) return read(value);
  } catch (fault) {
    // For an untagged enum, serde reports the same error no matter why its variants failed.
    if (!(fault instanceof RpcError)) throw fault;
  }
  throw serdeFault('data did not match any variant of untagged enum RpcEncodingConfigWrapper');
}
