import type { Failure } from '../../protocol/errors.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { type GrpcCall, grpcCalls } from '../../protocol/grpc/calls.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Product } from '../../protocol/product.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { UsageStatus } from '../metering/usage-meter.ts';
import { statusOfFailure, toFailure } from '../outcome.ts';
import type { RequestContext } from '../request-context.ts';
import type { GeyserGatewayParts } from './geyser-gateway-parts.ts';

/** A call, the opening of a stream or a request on one, until it is counted. */
export class MeteredCall {
  readonly context: RequestContext;
  readonly #parts: GeyserGatewayParts;
  readonly #product: Product;
  readonly #method: GrpcCall;
  readonly #bytesIn: number;

  constructor(
    parts: GeyserGatewayParts,
    { client, traceparent }: Omit<Caller, 'credential'>,
    product: Product,
    method: GrpcCall,
    bytesIn: number,
  ) {
    this.context = parts.meter.startRequest(client, traceparent);
    this.#parts = parts;
    this.#product = product;
    this.#method = method;
    this.#bytesIn = bytesIn;
  }

  /** Counts it as answered. */
  succeed(bytesOut = 0): void {
    this.#record('ok', null, bytesOut, grpcCalls[this.#method]);
  }

  /**
   * Counts it as refused.
   * @returns what is to be thrown: a status of the wire's own, or that a request is no message, as it is; else a row of
   * ours.
   */
  refuse(thrown: unknown): GrpcError | InvalidProtobuf | Failure {
    if (thrown instanceof GrpcError || thrown instanceof InvalidProtobuf) {
      this.#record('rpcError', null, 0, grpcCalls[this.#method]);
      return thrown;
    }
    const failure = toFailure(thrown);
    if (failure.code === 'INTERNAL') {
      const about = { err: failure.cause, keyId: this.context.key?.id, method: this.#method };
      this.#parts.log.error(about, 'a gRPC call went wrong');
    }
    this.#record(statusOfFailure(failure), failure, 0, null);
    return failure;
  }

  #record(status: UsageStatus, failure: Failure | null, bytesOut: number, cost: number | null): void {
    const { meter, network } = this.#parts;
    const metered = { status, failure, bytesIn: this.#bytesIn, bytesOut, cost };
    const unused = { wire: 'grpc', rpcCode: 0, params: null, result: null } as const;
    meter.endRequest(this.context, {
      ...metered,
      ...unused,
      product: this.#product,
      network,
      method: this.#method,
    });
  }
}
