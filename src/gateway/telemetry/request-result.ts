import type { Network } from '../../protocol/call.ts';
import type { CallAttempt, Failure } from '../../protocol/errors.ts';
import type { Product } from '../../protocol/product.ts';
import type { UsageStatus } from '../metering/usage-status.ts';

/** Transport of a request, which determines the status codes that apply. */
export type Wire = 'rpc' | 'socket' | 'rest' | 'grpc';

/** Facts about a failed request that neither its Failure nor its response contains. */
export type ErrorDetail = Readonly<{
  /** Replaces the failure's code, for errors of gRPC services. */
  code?: string;
  /** Written by this service or by a node. Never the message of a caught exception. */
  message?: string;
  attempts?: readonly CallAttempt[] | undefined;
  signature?: string | null;
}>;

export type RequestResult = Readonly<{
  wire: Wire;
  product: Product;
  network: Network | null;
  method: string;
  status: UsageStatus;
  failure: Failure | null;
  /** JSON-RPC error code from the node or an RpcError; 0: none. */
  rpcCode: number;
  bytesIn: number;
  bytesOut: number;
  params: Uint8Array | null;
  result: Uint8Array | null;
  detail?: ErrorDetail | null;
}>;
