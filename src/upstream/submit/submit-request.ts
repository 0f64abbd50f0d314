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
  /** null for a durable nonce, or if the transaction cannot be decoded. */
  blockhash: Blockhash | null;
  /** The transaction in canonical base64. */
  text: string;
  skipPreflight: boolean;
  /** Identifies the options that decide whether a node accepts the transaction. */
  optionsKey: string;
  rebroadcastsMax: number;
  /** For the first node, which runs the preflight unless it is skipped. */
  firstNodeParams: Buffer;
  /** For the other nodes if preflight is skipped. */
  otherNodeParams: Buffer;
  /** Without preflight or minContextSlot: for send-only endpoints, rebroadcasts, and other nodes after a preflight. */
  bareParams: Buffer;
}>;

const paramsOf = (text: string, config: Readonly<Record<string, JsonValue>>): Buffer =>
  Buffer.from(writeJson([text, config]));

const bareConfig = { encoding: 'base64', skipPreflight: true, maxRetries: 0 } as const;

function blockhashOf(bytes: Uint8Array): Blockhash | null {
  const decoded = decodeTransaction(bytes);
  if ('fault' in decoded) return null;
  const { message } = decoded.transaction;
  return nonceOfTransaction(message) === null ? message.recentBlockhash : null;
}

const MAX_RETRIES_INDEX = 3;

/**
 * Params for the first node. Without maxRetries, that node also rebroadcasts, even after this process exits. With
 * maxRetries, this process counts the retries and sends 0, because otherwise every node would retry that many times.
 */
function firstNodeParamsOf(params: Buffer, value: JsonValue, { maxRetries }: SendTransactionParams): Buffer {
  if (maxRetries === null) return params;
  const [text, config] = value as [string, JsonValue];
  // The options may be an array, in the order of `FIELDS` in sendTransaction.ts.
  const fields = Array.isArray(config)
    ? config.map((field, index) => (index === MAX_RETRIES_INDEX ? 0 : field))
    : { ...(config as Readonly<Record<string, JsonValue>>), maxRetries: 0 };
  return Buffer.from(writeJson([text, fields]));
}

function parse(params: Buffer): SubmitRequest | null {
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
    optionsKey: `${skipPreflight} ${preflightCommitment} ${minContextSlot}`,
    rebroadcastsMax: maxRetries === null ? Number.POSITIVE_INFINITY : Number(maxRetries),
    firstNodeParams: firstNodeParamsOf(params, value, parsed),
    otherNodeParams: paramsOf(text, minContextSlot === null ? bareConfig : { ...bareConfig, minContextSlot }),
    bareParams: paramsOf(text, bareConfig),
  };
}

/** @returns null if a node would reject the params as malformed, or if bytes follow the transaction. */
export function parseSubmitRequest(params: Buffer | null): SubmitRequest | null {
  if (params === null) return null;
  try {
    return parse(params);
  } catch (thrown) {
    if (thrown instanceof RpcError || thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}
