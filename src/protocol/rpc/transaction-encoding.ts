import type { JsonValue } from '../../base/json.ts';
import { invalidParams, RpcError } from '../rpc-error.ts';
import { type JsonObject, member, optional, readU8, readVariant, serdeFault } from './serde.ts';

/** How a transaction is written or was written. Order of Agave's `UiTransactionEncoding`. */
export const transactionEncodings = ['binary', 'base64', 'base58', 'json', 'jsonParsed'] as const;
export type TransactionEncoding = (typeof transactionEncodings)[number];

/** Order of Agave's `TransactionDetails`. */
export const transactionDetails = ['full', 'signatures', 'none', 'accounts'] as const;

/** The encodings in which a transaction may be sent. */
export type WireEncoding = 'base58' | 'base64';

/** An optional encoding; null when it is left out. */
export const readEncoding = (value: JsonValue | undefined): TransactionEncoding | null =>
  optional(value, (name) => readVariant(name, transactionEncodings));

/**
 * The encoding of a transaction that is sent; base58 when none is given.
 * @throws RpcError -32602 for encodings that only answers have.
 */
export function wireEncoding(encoding: TransactionEncoding | null): WireEncoding {
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

/** The newest transaction version the caller understands; null leaves `version` out of the answer. */
export const readMaxVersion = (config: JsonObject): number | null =>
  optional(member(config, 'maxSupportedTransactionVersion'), readU8);

/**
 * A config that may also be the bare name of an encoding, as old clients send it. serde tries both forms and
 * forgets why each failed. Source: Agave rpc-client-types `RpcEncodingConfigWrapper`.
 */
export function readEncodingConfig<T>(value: JsonValue | undefined, read: (config: JsonObject) => T): T {
  try {
    if (value === undefined || value === null) return read({});
    if (typeof value === 'string') return read({ encoding: readEncoding(value) });
    if (typeof value === 'object' && !Array.isArray(value)) return read(value);
  } catch (fault) {
    if (!(fault instanceof RpcError)) throw fault;
  }
  throw serdeFault('data did not match any variant of untagged enum RpcEncodingConfigWrapper');
}
