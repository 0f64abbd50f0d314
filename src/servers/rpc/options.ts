import type { Network } from '../../protocol/call.ts';
import { type EnvelopeLimits, envelopeLimits } from '../../protocol/request-envelope.ts';
import { noProxies, type TrustedProxies } from '../client-address.ts';

export type RpcServerOptions = Readonly<{
  path: string;
  /** The network of calls that name none. */
  network: Network;
  /** Networks that a call may name. */
  served: () => readonly Network[];
  bodyMaxBytes: number;
  /** Bytes of bodies that all requests together may hold; beyond them, requests get OVERLOADED. */
  bodiesMaxBytes: number;
  /** Bytes of answers that are held for all callers together until they have taken them; beyond them calls get OVERLOADED. */
  answersMaxBytes: number;
  /** Those of one batch; its other calls get BATCH_ANSWER_TOO_LARGE. */
  batchAnswersMaxBytes: number;
  /** Calls of one batch that are on their way at a time. */
  batchConcurrency: number;
  envelope: EnvelopeLimits;
  proxies: TrustedProxies;
}>;

export const rpcServerOptions: RpcServerOptions = {
  path: '/v1/rpc',
  network: 'mainnet-beta',
  served: () => ['mainnet-beta'],
  bodyMaxBytes: 1024 * 1024,
  bodiesMaxBytes: 256 * 1024 * 1024,
  answersMaxBytes: 512 * 1024 * 1024,
  batchAnswersMaxBytes: 128 * 1024 * 1024,
  batchConcurrency: 8,
  envelope: envelopeLimits,
  proxies: noProxies,
};
