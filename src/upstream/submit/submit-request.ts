import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import { decodeBase58Text } from '../../protocol/rpc/base58-text.ts';
import { decodeBase64 } from '../../protocol/rpc/base64-text.ts';
import { parseSendTransaction, type SendTransactionParams } from '../../protocol/rpc/sendTransaction.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { nonceOfTransaction } from '../../solana/nonce.ts';
import { type Signature, signatureFromBytes } from '../../solana/signature.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { readWireTransaction } from '../../solana/transaction/wire-transaction.ts';

/** Longest encoded transaction (version 1). Source: Agave rpc/src/rpc.rs. */
const TEXT_MAX = 5_464;

export type SubmitRequest = Readonly<{
  signature: Signature;
  /** null with a durable nonce, or if the version stores it elsewhere. */
  blockhash: Blockhash | null;
  /** Canonical base64. */
  text: string;
  skipPreflight: boolean;
  /** Options that affect acceptance; equal for equivalent requests. */
  conditions: string;
  rebroadcastsMax: number;
  /** For the node that runs the preflight. */
  firstNodeParams: Buffer;
  /** Without preflight. */
  otherNodeParams: Buffer;
  plain: Buffer;
}>;

const paramsOf = (text: string, config: Readonly<Record<string, JsonValue>>): Buffer =>
  Buffer.from(writeJson([text, config]));

const plainConfig = { encoding: 'base64', skipPreflight: true, maxRetries: 0 } as const;

function blockhashOf(bytes: Uint8Array): Blockhash | null {
  const decoded = decodeTransaction(bytes);
  if ('fault' in decoded) return null;
  const { message } = decoded.transaction;
  return nonceOfTransaction(message) === null ? message.recentBlockhash : null;
}

/**
 * Params for the first node. Without maxRetries that node rebroadcasts by itself, even if this process ends.
 * A number is applied here, since each node would apply it again.
 */
function firstNodeParamsOf(params: Buffer, value: JsonValue, { maxRetries }: SendTransactionParams): Buffer {
  if (maxRetries === null) return params;
  const [text, config] = value as [string, JsonValue];
  // Options as an array; order of parseSendTransaction.
  const fields = Array.isArray(config)
    ? config.map((field, at) => (at === MAX_RETRIES_AT ? 0 : field))
    : { ...(config as Readonly<Record<string, JsonValue>>), maxRetries: 0 };
  return Buffer.from(writeJson([text, fields]));
}

const MAX_RETRIES_AT = 3;

function read(params: Buffer): SubmitRequest | null {
  const value = parseJson(params.toString('utf8'));
  const parsed = parseSendTransaction(value);
  const { data, encoding, skipPreflight, preflightCommitment, minContextSlot, maxRetries } = parsed;
  if (data.length > TEXT_MAX) return null;
  const decoded = encoding === 'base58' ? decodeBase58Text(data) : decodeBase64(data);
  const wire = 'fault' in decoded ? null : readWireTransaction(decoded.bytes);
  if (wire === null) return null;
  const text = encoding === 'base64' ? data : Buffer.from(wire.bytes).toString('base64');
  return {
    signature: signatureFromBytes(wire.signature),
    blockhash: blockhashOf(wire.bytes),
    text,
    skipPreflight,
    conditions: `${skipPreflight} ${preflightCommitment} ${minContextSlot}`,
    rebroadcastsMax: maxRetries === null ? Number.POSITIVE_INFINITY : Number(maxRetries),
    firstNodeParams: firstNodeParamsOf(params, value, parsed),
    otherNodeParams: paramsOf(
      text,
      minContextSlot === null ? plainConfig : { ...plainConfig, minContextSlot },
    ),
    plain: paramsOf(text, plainConfig),
  };
}

/** @returns null for anything a node would reject by form, and for trailing bytes. */
export function parseSubmitRequest(params: Buffer | null): SubmitRequest | null {
  if (params === null) return null;
  try {
    return read(params);
  } catch (thrown) {
    if (thrown instanceof RpcError || thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}
