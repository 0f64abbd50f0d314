import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import type { Failure } from '../../protocol/errors.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { type GrpcCall, grpcCalls } from '../../protocol/grpc/calls.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Product } from '../../protocol/product.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { StreamOpener } from '../../streams/geyser/geyser-handler.ts';
import type { Admission } from '../admission.ts';
import type { KeyWatch } from '../auth/key-watch.ts';
import type { ConnectionLimit } from '../limits/connection-limit.ts';
import type { MessageRateLimiter } from '../limits/message-rate-limiter.ts';
import {
  type CallMeter,
  logInternalError,
  type RequestContext,
  statusOfFailure,
  toFailure,
} from '../metering/call-meter.ts';
import type { UsageStatus } from '../metering/usage-status.ts';
import type { LiveConnections } from '../telemetry/live-connections.ts';
import type { ErrorDetail } from '../telemetry/request-result.ts';

export type GeyserGatewayParts = Readonly<{
  admission: Admission;
  meter: CallMeter;
  connections?: LiveConnections;
  /** Absent: streams are counted in this process only. */
  streamLimit?: ConnectionLimit;
  messageLimiter: MessageRateLimiter;
  watch: KeyWatch;
  /** Stage that serves executed transactions. */
  standard: StreamOpener;
  /** Shred stage, which serves transactions before execution; null if not configured. */
  shred: StreamOpener | null;
  network: Network;
  log: Logger;
}>;

type CallFacts = Readonly<{ product: Product; method: GrpcCall; bytesIn: number }>;

/** Meters a unary call, the opening of a stream, or a request on a stream. */
export class MeteredCall {
  readonly context: RequestContext;
  readonly #parts: GeyserGatewayParts;
  readonly #facts: CallFacts;

  constructor(
    parts: GeyserGatewayParts,
    { client, traceparent }: Omit<Caller, 'credential'>,
    facts: CallFacts,
  ) {
    this.context = parts.meter.startRequest(client, traceparent);
    this.#parts = parts;
    this.#facts = facts;
  }

  succeed(bytesOut = 0): void {
    this.#record('ok', null, bytesOut, grpcCalls[this.#facts.method]);
  }

  /** @returns the error to throw: gRPC and protobuf errors unchanged, anything else as a Failure. */
  recordFailure(thrown: unknown): GrpcError | InvalidProtobuf | Failure {
    if (thrown instanceof GrpcError || thrown instanceof InvalidProtobuf) {
      const code = thrown instanceof GrpcError ? thrown.code : 'INVALID_ARGUMENT';
      const detail = { code, message: thrown.message };
      // No node is involved: nodes' streams are merged before they reach a client.
      const status = code === 'INTERNAL' || code === 'UNAVAILABLE' ? 'upstream' : 'client';
      const credits = status === 'client' ? grpcCalls[this.#facts.method] : null;
      this.#record(status, null, 0, credits, detail);
      return thrown;
    }
    const failure = toFailure(thrown);
    logInternalError(this.#parts.log, failure, { keyId: this.context.key?.id, method: this.#facts.method });
    this.#record(statusOfFailure(failure), failure, 0, null);
    return failure;
  }

  #record(
    status: UsageStatus,
    failure: Failure | null,
    bytesOut: number,
    credits: number | null,
    detail: ErrorDetail | null = null,
  ): void {
    const { meter, network } = this.#parts;
    meter.endRequest(this.context, {
      ...this.#facts,
      wire: 'grpc',
      network,
      status,
      failure,
      rpcCode: 0,
      bytesOut,
      params: null,
      result: null,
      credits,
      detail,
    });
  }
}
