import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { commitments } from '../../src/protocol/commitment.ts';

const require = createRequire(import.meta.url);

/** The published codec for all messages, which its package does not export. */
export const published = require(
  join(dirname(require.resolve('@triton-one/yellowstone-grpc')), 'grpc/geyser.js'),
) as Record<
  string,
  { encode(value: unknown): { finish(): Uint8Array }; decode(bytes: Uint8Array): Record<string, unknown> }
>;

type CommitmentRequest = Readonly<{ commitment?: 'processed' | 'confirmed' | 'finalized' }>;

const encode = (message: string, value: object): Uint8Array => published[message]!.encode(value).finish();
const u64 = (message: string, field: string) => (bytes: Uint8Array) =>
  BigInt(published[message]!.decode(bytes)[field] as string);
const numberOf = ({ commitment }: CommitmentRequest) => ({
  commitment: commitment === undefined ? undefined : commitments.indexOf(commitment),
});

/** The client side of the unary methods. */
export const encodeCommitmentRequest = (request: CommitmentRequest): Uint8Array =>
  encode('GetSlotRequest', numberOf(request));
export const encodeIsBlockhashValidRequest = (request: CommitmentRequest & { blockhash: string }) =>
  encode('IsBlockhashValidRequest', { blockhash: request.blockhash, ...numberOf(request) });
export const decodeGetSlotResponse = u64('GetSlotResponse', 'slot');
export const decodeGetBlockHeightResponse = u64('GetBlockHeightResponse', 'blockHeight');
export const decodePongResponse = (bytes: Uint8Array) => published.PongResponse!.decode(bytes).count;
export const decodeGetVersionResponse = (bytes: Uint8Array) =>
  published.GetVersionResponse!.decode(bytes).version as string;
export const decodeIsBlockhashValidResponse = (bytes: Uint8Array) =>
  published.IsBlockhashValidResponse!.decode(bytes) as { slot: string; valid: boolean };

export function decodeSubscribeReplayInfoResponse(bytes: Uint8Array): bigint | null {
  const first = published.SubscribeReplayInfoResponse!.decode(bytes).firstAvailable;
  return first === undefined ? null : BigInt(first as string);
}

export function decodeGetLatestBlockhashResponse(bytes: Uint8Array) {
  const latest = published.GetLatestBlockhashResponse!.decode(bytes) as Record<string, string>;
  return {
    slot: BigInt(latest.slot!),
    blockhash: latest.blockhash!,
    lastValidBlockHeight: BigInt(latest.lastValidBlockHeight!),
  };
}
